import { setImmediate as nextRound } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Deadline } from '../../src/db/engine/deadline.ts';
import { Semaphore } from '../../src/db/engine/semaphore.ts';

describe('a semaphore', () => {
  it('hands permits to callers in the order in which they came', async () => {
    const semaphore = new Semaphore(1);
    const order: number[] = [];
    expect(await semaphore.acquire()).toBe(true);
    const waiting = [1, 2, 3].map(async (caller) => {
      await semaphore.acquire();
      order.push(caller);
      semaphore.release();
    });
    expect([semaphore.free, semaphore.waiting]).toEqual([0, 3]);
    semaphore.release();
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
    expect([semaphore.free, semaphore.waiting]).toEqual([1, 0]);
  });

  it('lets holders take turns, however many callers each of them has', async () => {
    const semaphore = new Semaphore(1);
    const order: string[] = [];
    await semaphore.acquire();
    const [many, few] = [{ name: 'many' }, { name: 'few' }];
    const waiting = [many, many, many, many, few, few].map(async (holder) => {
      await semaphore.acquire({ holder });
      order.push(holder.name);
      semaphore.release(holder);
    });
    semaphore.release();
    await Promise.all(waiting);
    expect(order).toEqual(['many', 'few', 'many', 'few', 'many', 'many']);
    expect([semaphore.free, semaphore.waiting]).toEqual([1, 0]);
  });

  it('prefers the holder that has the fewest permits', async () => {
    const semaphore = new Semaphore(4);
    const order: string[] = [];
    const [many, few] = [{ name: 'many' }, { name: 'few' }];
    for (let n = 0; n < 4; n += 1) await semaphore.acquire({ holder: many });
    const waiting = [many, many, few, few].map(async (holder) => {
      await semaphore.acquire({ holder });
      order.push(holder.name);
    });
    await nextRound();
    for (let n = 0; n < 4; n += 1) semaphore.release(many);
    await Promise.all(waiting);
    expect(order).toEqual(['few', 'few', 'many', 'many']);
    for (const holder of [few, few, many, many]) semaphore.release(holder);
    expect([semaphore.free, semaphore.waiting]).toEqual([4, 0]);
  });

  it('refuses a caller at once when the queue is full', async () => {
    const semaphore = new Semaphore(1, 1);
    await semaphore.acquire();
    const waiting = semaphore.acquire();
    expect(await semaphore.acquire()).toBe(false);
    semaphore.release();
    expect(await waiting).toBe(true);
  });

  it('grants no permit to a caller whose deadline has passed or whose request was aborted', async () => {
    const semaphore = new Semaphore(1);
    await semaphore.acquire();
    const deadline = new Deadline({ withinMs: 60_000, waitMs: 60_000 });
    const [late, aborted] = [semaphore.acquire({ withinMs: 1 }), semaphore.acquire({ deadline })];
    deadline.abort();
    expect(await Promise.all([late, aborted])).toEqual([false, false]);
    semaphore.release();
    expect([semaphore.free, semaphore.waiting]).toEqual([1, 0]);
  });

  it('releases the permit when the work fails', async () => {
    const semaphore = new Semaphore(1, 0);
    const refuse = () => {
      throw new Error('full');
    };
    const work = () => semaphore.run(() => Promise.resolve(), refuse);
    await expect(semaphore.run(work, refuse)).rejects.toThrow('full');
    expect(semaphore.free).toBe(1);
  });
});
