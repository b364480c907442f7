import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { type App, startApp } from '../support/app.ts';
import { Client } from './client.ts';
import { changedTexts, errorFaults, isRecord, ofTypeFaults, restFaults, writtenIn } from './oracle.ts';
import {
  type GraphTextInput,
  graphTextInputs,
  type RestTextInput,
  restTextInputs,
  sampleFrom,
} from './text-inputs.ts';
import { readPool } from './pool.ts';
import { wireOf } from './rest-cases.ts';
import { blns, strange } from './texts.ts';

const { CI, PLACES, SEED, TEXTS } = process.env;
/** Determines which texts and positions a run tries. */
const seed = Number(SEED ?? Math.floor(Date.now() / 1000));
/** `npm run fuzz` tries every text at every position. */
const isWhole = TEXTS === 'all';
/** `PLACES=3/20` tries the third of twenty parts of the positions; CI tries all of them, `npm test` one of three parts. */
const somePlaces = CI || TEXTS !== undefined ? '1/1' : `${(seed % 3) + 1}/3`;
const [part = 1, parts = 1] = (PLACES ?? somePlaces).split('/').map(Number);

let app: App;
let client: Client;
let inputs: { graph: GraphTextInput[]; rest: RestTextInput[] };

beforeAll(async () => {
  app = await startApp({ demo: true });
  client = new Client(app.url, app.token);
  const sample = sampleFrom(await readPool(app));
  const inPart = (_input: unknown, index: number) => index % parts === part - 1;
  inputs = {
    graph: graphTextInputs(sample).filter(inPart),
    rest: routeTable.flatMap((route) => restTextInputs(route, sample)).filter(inPart),
  };
});
afterAll(async () => {
  client.close();
  await app.stop();
});

/** Texts that just fit into a body of 1 MB. */
const long = ['x'.repeat(999_000), '\u202e𝒳'.repeat(100_000)];
/** Texts that no input accepts. */
const refused = strange.filter((text) => text.includes('\0') || !text.isWellFormed());

/** Only CI tries all of these texts; other runs try a quarter of them. */
const thinning = CI && TEXTS !== 'few' ? 1 : 4;

/** The texts to try at a position: a share of all texts, which is larger where texts are stored. */
function textsFor(index: number, isFree: boolean): readonly string[] {
  if (isWhole) return [...strange, ...blns, ...long];
  const share = (isFree ? 12 : 120) * thinning;
  const own = [...blns, ...strange, ...long].filter(
    (_, textIndex) => textIndex % share === (index + seed) % share,
  );
  return [...own, ...refused];
}

it('every text input of the graph stores any text unchanged, or names what is wrong with it', async () => {
  const faults: string[] = [];
  let tried = 0;
  let accepted = 0;
  /** Tries several texts in one operation, and those whose answer an error of another one removed again. */
  const attempt = async (input: GraphTextInput, texts: readonly string[]): Promise<void> => {
    const { errors, values, found } = await answerOf(input, texts);
    faults.push(...found.map((fault) => `${input.at}: ${fault}`));
    if (values) {
      accepted += values.filter((value) => value != null).length;
      for (const [index, value] of values.entries()) {
        const changed = changedByText(input, texts[index] ?? '', value);
        faults.push(...changed.map((fault) => `${input.at}: ${fault}`));
      }
    } else if (texts.length > 1 && errors < texts.length) {
      const half = texts.length >> 1;
      await attempt(input, texts.slice(0, half));
      await attempt(input, texts.slice(half));
    }
  };
  for (const [index, input] of inputs.graph.entries()) {
    const texts = textsFor(index, input.isFree);
    tried += texts.length;
    const short = texts.filter((text) => !long.includes(text));
    for (let from = 0; from < short.length; from += together)
      await attempt(input, short.slice(from, from + together));
    for (const text of texts.filter((each) => long.includes(each))) await attempt(input, [text]);
  }
  process.stdout.write(
    `${tried} texts at ${inputs.graph.length} text inputs of the graph, ${accepted} accepted, seed ${seed}\n`,
  );
  expect(faults).toEqual([]);
}, 3_600_000);

/** Below the limit on how often a selection may repeat a field (limits.ts). */
const together = 40;

async function answerOf(
  { document, of }: GraphTextInput,
  texts: readonly string[],
): Promise<{ errors: number; values?: unknown[]; found: string[] }> {
  const { status, text } = await client.send({
    method: 'POST',
    target: '/graphql',
    headers: { Accept: 'application/graphql-response+json' },
    body: Buffer.from(JSON.stringify(document(texts))),
  });
  const answer = JSON.parse(text) as { data?: Record<string, unknown> | null; errors?: unknown[] };
  const found = errorFaults(status, text);
  const errors = answer.errors?.length ?? 0;
  if (!answer.data) return { errors, found };
  const parent = 'node' in answer.data ? answer.data.node : answer.data;
  const values = texts.map((_text, index) => (isRecord(parent) ? parent[`it${index}`] : undefined));
  found.push(
    ...values.flatMap((value) => (errors > 0 && value == null ? [] : ofTypeFaults(of.field, value))),
  );
  return { errors, values, found };
}

/** Finds a text that was stored and is returned differently. A query stores nothing. */
function changedByText({ of, buildValue }: GraphTextInput, text: string, payload: unknown): string[] {
  return of.parent === 'Mutation' ? changedTexts(buildValue(text), writtenIn(payload)) : [];
}

it('every text input of REST stores any text unchanged, or names what is wrong with it', async () => {
  const faults: string[] = [];
  let tried = 0;
  let accepted = 0;
  for (const [index, { at, route, isFree, buildRequest }] of inputs.rest.entries()) {
    const texts = textsFor(index, isFree);
    const one = async (text: string): Promise<void> => {
      const sent = buildRequest(text);
      const wire = wireOf(route, sent);
      const answer = await client.send(wire);
      const found = restFaults(wire, answer);
      if (answer.status < 400) accepted += 1;
      const isWritten = answer.status === 201 || (wire.method === 'PATCH' && answer.status === 200);
      if (isWritten && sent.body && 'json' in sent.body)
        found.push(...changedTexts(sent.body.json, JSON.parse(answer.text)));
      faults.push(...found.map((fault) => `${at}: ${JSON.stringify(text).slice(0, 200)}: ${fault}`));
    };
    tried += texts.length;
    for (let from = 0; from < texts.length; from += atOnce)
      await Promise.all(texts.slice(from, from + atOnce).map(one));
  }
  process.stdout.write(
    `${tried} texts at ${inputs.rest.length} text inputs of the REST API, ${accepted} accepted, seed ${seed}\n`,
  );
  expect(faults).toEqual([]);
}, 3_600_000);

const atOnce = 8;
