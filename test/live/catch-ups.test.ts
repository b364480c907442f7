import { expect, it } from '@jest/globals';
import { CatchUps } from '../../src/live/catch-ups.ts';

it('catch-up reads for one stream at a time, the one that is least far behind first', async () => {
  const catchUps = new CatchUps();
  const order: number[] = [];
  let reading = 0;
  let most = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const read = async (behind: number, until?: Promise<void>) =>
    catchUps.run(behind, async () => {
      reading += 1;
      most = Math.max(most, reading);
      await until;
      order.push(behind);
      reading -= 1;
    });
  const reads = [read(5_000, promise), read(9_000), read(600), read(2_000)];
  resolve();
  await Promise.all(reads);
  expect(order).toEqual([5_000, 600, 2_000, 9_000]);
  expect(most).toBe(1);
});

it('catch-up continues after a read has failed', async () => {
  const catchUps = new CatchUps();
  const failed = catchUps.run(600, () => Promise.reject(new Error('broken')));
  const next = catchUps.run(600, () => Promise.resolve('read'));
  await expect(failed).rejects.toThrow('broken');
  expect(await next).toBe('read');
});
