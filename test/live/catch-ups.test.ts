import { expect, it } from '@jest/globals';
import { CatchUps } from '../../src/live/catch-ups.ts';

it('catch-up reads for one stream at a time, the one that is least far behind first', async () => {
  const catchUps = new CatchUps();
  const order: number[] = [];
  let reading = 0;
  let maxReading = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const read = async (behind: number, until?: Promise<void>) =>
    catchUps.run('one', behind, async () => {
      reading += 1;
      maxReading = Math.max(maxReading, reading);
      await until;
      order.push(behind);
      reading -= 1;
    });
  const reads = [read(5_000, promise), read(9_000), read(600), read(2_000)];
  resolve();
  await Promise.all(reads);
  expect(order).toEqual([5_000, 600, 2_000, 9_000]);
  expect(maxReading).toBe(1);
});

it('catch-up gives the workspaces turns', async () => {
  const catchUps = new CatchUps();
  const order: string[] = [];
  const read = (workspaceId: string, behind: number) =>
    catchUps.run(workspaceId, behind, async () => void order.push(`${workspaceId} ${behind}`));
  await Promise.all([read('a', 700), read('a', 800), read('a', 900), read('b', 9_000), read('b', 8_000)]);
  expect(order).toEqual(['a 700', 'a 800', 'b 8000', 'a 900', 'b 9000']);
});

it('catch-up reads for the stream that is farthest behind, however many others come', async () => {
  const catchUps = new CatchUps();
  const state = { isRead: false, others: 0 };
  const readRepeatedly = async (): Promise<void> => {
    while (!state.isRead && state.others < 1_000) {
      state.others += 1;
      await catchUps.run('one', 600, () => Promise.resolve());
    }
  };
  const readers = [readRepeatedly(), readRepeatedly()];
  await catchUps.run('one', 100_000, async () => {
    state.isRead = true;
  });
  await Promise.all(readers);
  expect(state.others).toBeLessThan(20);
});

it('catch-up continues after a read has failed', async () => {
  const catchUps = new CatchUps();
  const failedRead = catchUps.run('one', 600, () => Promise.reject(new Error('broken')));
  const nextRead = catchUps.run('one', 600, () => Promise.resolve('read'));
  await expect(failedRead).rejects.toThrow('broken');
  expect(await nextRead).toBe('read');
});
