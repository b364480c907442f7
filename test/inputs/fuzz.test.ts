import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { maxStallMs, type MeasuredApp, startMeasuredApp } from '../support/measured-app.ts';
import type { RawAnswer } from '../support/openapi.ts';
import { Client, isStream, type Wire } from './client.ts';
import { type GraphCase, graphCases, type GraphOperation, graphOperations } from './graph-cases.ts';
import { sendMeasured } from './measured.ts';
import { changedTexts, graphFaults, restFaults, writtenIn } from './oracle.ts';
import { type Pool, resolved } from './pool.ts';
import { type RestCase, restCases, wireOf } from './rest-cases.ts';

/** Cases of each operation: 12 in `npm test`, 200 in CI, 20,000 in `npm run fuzz`, or as many as `MINUTES` allow. */
const { CI, CASES = CI ? 'all' : '12' } = process.env;
const cases = CASES === 'all' ? 200 : Number(CASES);
/** An operation fails the test if it has accepted none of at least this many cases. */
const fewest = 50;
const minutes = Number(process.env.MINUTES ?? Number.POSITIVE_INFINITY);
const atOnce = 8;
/** A failure prints the OPERATION, SEED and CASE_PATH that repeat it. */
const { OPERATION: only, CASE_PATH: path } = process.env;
const seed = Number(process.env.SEED ?? Math.floor(Date.now() / 1000) % 1_000_000_000);

/** Cases that have revealed a fault before. They are tried before new ones. */
const corpus = JSON.parse(readFileSync(join(import.meta.dirname, 'corpus.json'), 'utf8')) as Record<
  string,
  unknown[]
>;

let app: MeasuredApp;
let client: Client;
let pool: Pool;

beforeAll(async () => {
  app = await startMeasuredApp({ demo: true });
  client = new Client(app.url, app.token);
});
// Created again for each API, because a long run deletes everything that may be deleted.
beforeEach(async () => {
  pool = await app.pool();
});
afterAll(async () => {
  client.close();
  await app.stop();
});

/** An operation of either API, with its cases and the property that each answer must have. */
interface Subject {
  readonly name: string;
  /** Runs one case. Returns whether it was accepted, or the faults of the answer. */
  readonly property: (one: unknown) => Promise<boolean | string[]>;
  readonly arbitrary: fc.Arbitrary<unknown>;
}

/** Sends a case. Returns the answer, and a fault if it has blocked the other cases for too long. */
async function sent(wire: Wire): Promise<{ answer: RawAnswer; stalls: string[] }> {
  const { answer, stallMs } = await sendMeasured(app, client, wire);
  const isLong = stallMs > maxStallMs;
  return { answer, stalls: isLong ? [`the event loop stood still for ${Math.round(stallMs)} ms`] : [] };
}

const restSubjects = routeTable.map((route): Subject => {
  const property = async (one: unknown) => {
    const { body, ...rest } = resolved(one as RestCase, pool);
    const wire = wireOf(route, { ...rest, ...(body && { body }) });
    const { answer, stalls } = await sent(wire);
    const faults = [...stalls, ...restFaults(wire, answer)];
    const sentJson = body && 'json' in body ? body.json : undefined;
    // 200 for a link means that it existed before.
    const written = answer.status === 201 || (wire.method === 'PATCH' && answer.status === 200);
    if (written) faults.push(...changedTexts(sentJson, JSON.parse(answer.text)));
    return faults.length > 0 ? faults : answer.status < 400;
  };
  return { name: `${route.method} ${route.path}`, property, arbitrary: restCases(route) };
});

const graphSubjects = graphOperations.map((operation): Subject => {
  const property = async (one: unknown) => {
    const variables = resolved(one as GraphCase, pool);
    const { answer, stalls } = await sent({
      method: 'POST',
      target: '/graphql',
      headers: { Accept: 'application/graphql-response+json, text/event-stream' },
      body: Buffer.from(JSON.stringify({ query: operation.document, variables })),
    });
    if (operation.kind === 'subscription' && isStream(answer)) return stalls.length > 0 ? stalls : true;
    const faults = [...stalls, ...graphFaults(operation, answer)];
    faults.push(...changedByMutation(operation, variables, answer));
    return faults.length > 0 ? faults : !answer.text.includes('"errors"');
  };
  return { name: operation.name, property, arbitrary: graphCases(operation) };
});

function changedByMutation(
  { kind, field }: GraphOperation,
  { input }: GraphCase,
  { text }: RawAnswer,
): string[] {
  const { data } = JSON.parse(text) as { data?: Record<string, unknown> | null };
  return kind === 'mutation' ? changedTexts(input, writtenIn(data?.[field.name])) : [];
}

/** The time for one operation, which is an equal share of MINUTES. */
const timeLimitMs = (minutes * 60_000 * atOnce) / (restSubjects.length + graphSubjects.length);

/** Tries operations, several at a time. Returns the numbers of accepted and of all cases of each. */
async function fuzz(subjects: readonly Subject[]): Promise<Tried> {
  const accepted = new Map<string, number>();
  let tried = 0;
  const failures: string[] = [];
  const waiting = subjects.filter(({ name }) => only === undefined || name === only);
  const next = async (): Promise<void> => {
    for (let subject = waiting.shift(); subject; subject = waiting.shift()) {
      const { name, arbitrary, property } = subject;
      accepted.set(name, 0);
      const judged = fc.asyncProperty(arbitrary, async (one) => {
        const found = await property(one);
        if (found === true) accepted.set(name, (accepted.get(name) ?? 0) + 1);
        if (Array.isArray(found)) throw new Error(found.join('\n'));
      });
      const check = async (roundSeed: number, count: number, examples: [unknown][]): Promise<boolean> => {
        const details = await fc.check(judged, {
          seed: roundSeed,
          numRuns: count + examples.length,
          examples,
          ...(path && { path }),
          ...(Number.isFinite(timeLimitMs) && { interruptAfterTimeLimit: timeLimitMs }),
        });
        tried += details.numRuns;
        if (!details.failed) return true;
        const { counterexample, counterexamplePath, errorInstance } = details;
        const failure = `OPERATION='${name}' SEED=${roundSeed} CASE_PATH=${counterexamplePath}\n${JSON.stringify(counterexample)}\n${String(errorInstance)}`;
        // Printed at once, because a long run takes a while to end.
        process.stdout.write(`${failure}\n`);
        failures.push(failure);
        return false;
      };
      const examples = (corpus[name] ?? []).map((one): [unknown] => [one]);
      const held = await check(seed, cases, examples);
      if (held && accepted.get(name) === 0 && cases < fewest && path === undefined)
        await check(seed + 1, fewest - cases, []);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, next));
  if (failures.length > 0) throw new Error(failures.join('\n\n'));
  return { accepted, tried };
}

interface Tried {
  readonly accepted: ReadonlyMap<string, number>;
  readonly tried: number;
}

/** A time-out that no machine reaches. */
const day = 86_400_000;

it(
  `the REST API answers any request as openapi.json describes (seed ${seed})`,
  async () => {
    report('routes', await fuzz(restSubjects));
  },
  day,
);

it(
  `the graph answers any request as its schema describes (seed ${seed})`,
  async () => {
    report('fields of the roots', await fuzz(graphSubjects));
  },
  day,
);

/** Prints the share of accepted cases. If all were refused, only refusals would have been tested. */
function report(what: string, { accepted, tried }: Tried): void {
  const sum = [...accepted.values()].reduce((all, each) => all + each, 0);
  process.stdout.write(`${tried} cases of ${accepted.size} ${what}, ${sum} of them accepted, seed ${seed}\n`);
  if (path !== undefined) return;
  expect([...accepted].filter(([, count]) => count === 0)).toEqual([]);
}
