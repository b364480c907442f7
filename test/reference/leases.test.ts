import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { leaseMs, ReferenceMemory } from '../../src/reference/memory.ts';
import { type App, startApp } from '../support/app.ts';
import { asOtherProcess, hold, nameOf, rename, type Steps } from './other-process.ts';
import { fakeIntervals } from '../support/fake-timers.ts';

// Tests set the time, and start polls explicitly.
let nowMs = 0;
let app: App;
let steps: Steps;
const opened: ReferenceMemory[] = [];

beforeAll(async () => {
  app = await startApp({ demo: true });
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(async () => {
  steps = {};
  for (const one of opened.splice(0)) await one.close();
  jest.useRealTimers();
});
afterAll(async () => {
  jest.restoreAllMocks();
  await app.stop();
});

/** Creates the memory of another process, which has just read the workspace's reference data. */
async function open(maxRows?: number): Promise<ReferenceMemory> {
  fakeIntervals();
  nowMs += 1_000_000;
  steps = {};
  const one = new ReferenceMemory(asOtherProcess(app.database, steps), { maxRows });
  opened.push(one);
  await one.current(app.workspaceId);
  return one;
}

/** Whether the memory answers without waiting. If not, waits for its answer. */
async function isCurrentAtOnce(memory: ReferenceMemory): Promise<boolean> {
  const current = memory.current(app.workspaceId);
  await current;
  return !(current instanceof Promise);
}

/** Starts the poll, and returns when it has read, or is held at `connecting`. */
async function poll(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  steps.behind = async () => resolve();
  jest.advanceTimersByTime(300);
  await promise;
  await setImmediate();
  steps.behind = undefined;
}

describe('a lease', () => {
  it('makes a write of another process visible when it ends', async () => {
    const own = await open();
    await rename(app, 'WEB', 'Written elsewhere');
    nowMs += leaseMs - 1;
    expect(await isCurrentAtOnce(own)).toBe(true);
    nowMs += 1;
    expect(nameOf(await own.current(app.workspaceId), 'WEB')).toBe('Written elsewhere');
  });

  it('starts with its check, however long that takes', async () => {
    const own = await open();
    nowMs += leaseMs;
    const held = hold();
    steps.connecting = held.pass;
    const pending = own.current(app.workspaceId);
    await held.reached;
    nowMs += 500;
    held.release();
    await pending;
    nowMs += leaseMs - 501;
    expect(await isCurrentAtOnce(own)).toBe(true);
    nowMs += 1;
    expect(await isCurrentAtOnce(own)).toBe(false);
  });

  it('is renewed by a poll, from the start of the poll', async () => {
    const own = await open();
    nowMs += 700;
    const held = hold();
    steps.connecting = held.pass;
    const polled = poll();
    await held.reached;
    nowMs += 50;
    held.release();
    await polled;
    nowMs += leaseMs - 51;
    expect(await isCurrentAtOnce(own)).toBe(true);
    nowMs += 1;
    expect(await isCurrentAtOnce(own)).toBe(false);
  });

  it.each([
    ['a row', () => rename(app, 'WEB', 'Polled')],
    [
      'what a token may do',
      () =>
        sql`update access_token set expires_utc = '2999-01-01' where workspace_id = ${app.workspaceId}`.execute(
          app.database.unscoped,
        ),
    ],
  ])('is not renewed by a poll when %s has changed', async (_what, write) => {
    const own = await open();
    await write();
    nowMs += 700;
    await poll();
    nowMs += leaseMs - 701;
    expect(await isCurrentAtOnce(own)).toBe(true);
    nowMs += 1;
    expect(await isCurrentAtOnce(own)).toBe(false);
  });

  it('ends at once with a notification', async () => {
    const own = await open();
    own.expireAll();
    expect(await isCurrentAtOnce(own)).toBe(false);
  });

  it('bounds for how long a token over its quota is refused without waiting', async () => {
    const own = await open();
    own.expireAll();
    steps.connecting = () => Promise.reject(new Error('gone'));
    nowMs += leaseMs - 1;
    expect(own.recent(app.workspaceId)?.isCached).toBe(true);
    nowMs += 1;
    expect(own.recent(app.workspaceId)).toBeUndefined();
  });
});

describe('a check', () => {
  it('that started longer ago than the lease is not shared', async () => {
    const own = await open();
    nowMs += leaseMs;
    const held = hold();
    steps.connecting = held.pass;
    const before = own.counts.check;
    const pending = [own.current(app.workspaceId)];
    nowMs += leaseMs - 1;
    pending.push(own.current(app.workspaceId));
    expect(own.counts.check - before).toBe(1);
    nowMs += 1;
    pending.push(own.current(app.workspaceId));
    expect(own.counts.check - before).toBe(2);
    held.release();
    await Promise.all(pending.map((each) => Promise.resolve(each)));
  });

  it('is made for a client that has seen the same version of another history', async () => {
    const own = await open();
    const { version } = await own.current(app.workspaceId);
    expect(own.current(app.workspaceId, version)).not.toBeInstanceOf(Promise);
    const pending = own.current(app.workspaceId, { ref: version.ref, tag: version.tag + 1 });
    expect(pending).toBeInstanceOf(Promise);
    await pending;
  });
});

describe('a workspace', () => {
  it('is not evicted for another one while it is being read again', async () => {
    const second = await app.secondWorkspace();
    const { rowCount } = await (await open()).current(app.workspaceId);
    const own = await open(rowCount);
    const held = hold();
    steps.connecting = held.pass;
    await rename(app, 'WEB', `Read again ${nowMs}`);
    const pending = own.renewed(app.workspaceId);
    await held.reached;
    steps.connecting = undefined;
    await own.current(second.workspaceId);
    held.release();
    await pending;
    expect([own.size().workspaces, await isCurrentAtOnce(own)]).toEqual([1, true]);
  });
});
