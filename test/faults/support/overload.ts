import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from './client.ts';
import { ms, type Trial } from './fault.ts';
import { latenciesBetween } from './histogram.ts';
import { Load } from './load.ts';
import { residentMb } from './memory.ts';
import { encodeId } from '../../../src/resolvers/ids.ts';
import { team } from '../../support/fixtures.ts';
import { serverOnPostgres } from './scene.ts';
import type { Service } from './service.ts';
import { positionOf, Streams } from './streams.ts';
import { withDatabase, type World } from './world.ts';

/**
 * The dashboard of docs/queries over ten teams with a hundred issues each. It is so expensive that one core can send ten times
 * as many requests as the server can answer, and that the maximum cost of an operation has to be raised.
 */
const teams = 10;
const issuesOfTeam = 100;
const env = { MAX_OPERATION_COST: '50000' };
const dashboard = readFileSync(join(import.meta.dirname, '../../../docs/queries/dashboard.graphql'), 'utf8');
const query = dashboard.replace('first: 20\n', `first: ${issuesOfTeam}\n`);
const dashboardRequest = { method: 'POST', path: '/graphql', body: { query } };
const peakConnections = 16;
const factor = 10;
const hangsAfterMs = 15_000;

/** The number of streams that are open during the load, and the interval of the changes that are sent to all of them. */
interface StreamLoad {
  readonly streams: number;
  readonly changeEveryMs: number;
}

/**
 * Measures the peak throughput, with sixteen connections that each wait for their answer. Then sends ten times as many requests a
 * second, whether or not they are answered.
 */
export async function overload(trial: Trial, streamLoad?: StreamLoad): Promise<string> {
  const { location, world, service } = await serverOnPostgres(trial, { ...env, STREAMS_PER_TOKEN: '10000' });
  const teamIds = await withDatabase(location, async (database) => {
    const made = [world.teamId];
    while (made.length < teams) made.push(encodeId('team', (await team(database, world.workspaceId)).id));
    return made;
  });
  await fill(service, world.token, teamIds);
  await mustAnswer(service, world);
  await peak(service, world, 3_000);
  const normal = await peak(service, world, trial.isShort ? 5_000 : 20_000);
  const streams = streamLoad && (await openStreams(service, world, streamLoad));
  const beforeMb = residentMb(service.pid);

  const counts = await service.counts();
  const began = performance.now();
  const load = new Load(service.url, world.token, { ...dashboardRequest, withinMs: hangsAfterMs });
  let maxMb = beforeMb;
  await load.run(normal.perSecond * factor, trial.amount * 1_000, () => {
    maxMb = Math.max(maxMb, residentMb(service.pid));
  });
  const seconds = (performance.now() - began) / 1_000;
  const after = await service.counts();
  const ended = performance.now();
  const calm = new Client(service.url, world.token);
  let normalAfterMs = Number.POSITIVE_INFINITY;
  while (performance.now() - ended < 30_000) {
    const answer = await calm.send(dashboardRequest).catch(() => undefined);
    if (answer?.status === 200 && answer.ms <= 2 * normal.p99Ms) {
      normalAfterMs = performance.now() - ended;
      break;
    }
    await delay(20);
  }
  calm.close();
  await load.end();
  const ofStreams = streams ? await streams.check(trial) : '';
  const { sent, notSent, statuses } = load;

  const latenciesOf = (status: string) => latenciesBetween(counts, after, { face: 'graphql', status });
  const accepted = latenciesOf('200');
  const refused = ['503', '429'].map(latenciesOf);
  const refusedMs = Math.max(...refused.map((took) => (took.count > 0 ? took.quantile(0.99) : 0)));
  const goodput = accepted.count / seconds;
  const share = goodput / normal.perSecond;
  const [acceptedMs, times] = [accepted.quantile(0.99), accepted.quantile(0.99) / normal.p99Ms];
  const others = [...statuses].filter(([status]) => ![200, 429, 503].includes(status));
  trial.must(service.isRunning, `the server ended: ${service.logTail()}`);
  trial.must(
    others.every(([status]) => status === 0),
    `answers that are neither: ${JSON.stringify(others)}`,
  );
  trial.must(normalAfterMs <= 30_000, `normal after ${ms(normalAfterMs)}`);
  trial.must(maxMb <= beforeMb + 500, `memory went from ${beforeMb} MB to ${maxMb} MB`);
  trial.figure(share >= 0.9, `goodput is ${(100 * share).toFixed(0)} % of the peak`);
  trial.figure(times <= 2, `p99 of what was accepted is ${ms(acceptedMs)}, ${times.toFixed(1)}× normal`);
  trial.figure(refusedMs <= 50, `refusals took p99 ${ms(refusedMs)}`);
  trial.figure(
    (statuses.get(0) ?? 0) === 0,
    `${statuses.get(0)} requests were not answered within ${ms(hangsAfterMs)}`,
  );
  trial.figure(normalAfterMs <= 5_000, `normal after ${ms(normalAfterMs)}`);
  return (
    `peak ${normal.perSecond.toFixed(0)}/s at p99 ${ms(normal.p99Ms)}; offered ${((sent + notSent) / seconds).toFixed(0)}/s, ` +
    `sent ${(sent / seconds).toFixed(0)}/s, goodput ${goodput.toFixed(0)}/s (${(100 * share).toFixed(0)} %), p99 of accepted ${ms(acceptedMs)} (${times.toFixed(1)}×), ` +
    `${statuses.get(503) ?? 0} × 503 and ${statuses.get(429) ?? 0} × 429 with p99 ${ms(refusedMs)}, ${statuses.get(0) ?? 0} not answered, a client waited ${ms(load.longestMs)} at most; ` +
    `memory ${beforeMb} → ${maxMb} MB; normal after ${ms(normalAfterMs)}${ofStreams}`
  );
}

/** Opens the streams, and makes changes at intervals until `check` is called. */
async function openStreams(
  service: Service,
  { token, teamId }: World,
  { streams: count, changeEveryMs }: StreamLoad,
) {
  const client = new Client(service.url, token);
  const cursor = async () => {
    const query = '{ workspace { changeCursor } }';
    const { body } = await client.send({ method: 'POST', path: '/graphql', body: { query } });
    return (JSON.parse(body) as { data: { workspace: { changeCursor: string } } }).data.workspace
      .changeCursor;
  };
  const streams = new Streams(count, { url: service.url, token, cursor: await cursor() });
  await streams.start();
  let changes = 0;
  const over = new AbortController();
  const changing = (async () => {
    while (!over.signal.aborted) {
      const body = { ...content, teamId, title: `Change ${changes}` };
      const answer = await client.send({ method: 'POST', path: '/v1/issues', body });
      if (answer.status === 201) changes += 1;
      else if (answer.status !== 503) throw new Error(answer.body);
      await delay(answer.status === 201 ? changeEveryMs : 100, undefined, over).catch(() => undefined);
    }
  })();
  return {
    check: async (trial: Trial) => {
      over.abort();
      await changing;
      const end = positionOf(await cursor());
      client.close();
      const until = performance.now() + 10_000;
      while (streams.position < end && performance.now() < until) await delay(20);
      const cut = streams.awayMs.length + count - streams.open;
      trial.must(changes > 0, 'no change was made');
      trial.must(cut === 0, `${cut} streams were cut`);
      trial.must(streams.position >= end, `a stream is at ${streams.position} of ${end}`);
      for (const words of streams.wrong.slice(0, 5)) trial.must(false, words);
      streams.stop();
      return `; ${count} streams: ${changes} changes told to all of them, ${cut} cut`;
    },
  };
}

const content = { description: 'There.', priority: 1 };

/** Creates issues in each team, with a comment each. */
async function fill(service: Service, token: string, teamIds: readonly string[]): Promise<void> {
  const client = new Client(service.url, token, 8);
  const post = async (path: string, body: object) => {
    const answer = await client.send({ method: 'POST', path, body });
    if (answer.status !== 201) throw new Error(answer.body);
    return answer.body;
  };
  const make = async (title: string, teamId: string) => {
    const issue = await post('/v1/issues', { teamId, title, description: 'There.', priority: 1 });
    const { key } = JSON.parse(issue) as { key: string };
    await post(`/v1/issues/${key}/comments`, { body: 'Seen.' });
  };
  const titles = Array.from({ length: issuesOfTeam }, (_, index) => `Issue ${index}`);
  await Promise.all(teamIds.flatMap((teamId) => titles.map((title) => make(title, teamId))));
  client.close();
}

/** Checks one answer to the request, because the load does not read any. */
async function mustAnswer(service: Service, { token }: World): Promise<void> {
  const client = new Client(service.url, token);
  const answer = await client.send(dashboardRequest);
  client.close();
  if (answer.status !== 200 || answer.body.startsWith('{"errors"'))
    throw new Error(`${answer.status} ${answer.body}`);
}

/** The throughput for clients that wait for each answer, and the p99 of the server's own histogram. */
async function peak(service: Service, { token }: World, forMs: number) {
  const before = await service.counts();
  const began = performance.now();
  const load = new Load(service.url, token, dashboardRequest);
  await load.keepBusy(peakConnections, forMs);
  const seconds = (performance.now() - began) / 1_000;
  const answered = load.statuses.get(200) ?? 0;
  const latencies = latenciesBetween(before, await service.counts(), { face: 'graphql', status: '200' });
  await load.end();
  const failed = [...load.statuses].filter(([status]) => status !== 200);
  if (failed.length > 0) throw new Error(`Not all are answered at the peak: ${JSON.stringify(failed)}`);
  return { perSecond: answered / seconds, p99Ms: latencies.quantile(0.99) };
}
