import { expect, it } from '@jest/globals';
import { FairPermit } from '../../src/resolvers/attachments/fair-permit.ts';

const refuse = (): never => {
  throw new Error('refused');
};

/** Runs work that ends when the test says so, and notes the order in which it began. */
function workIn(permit: FairPermit) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const start = (name: string) =>
    permit.run(
      name.slice(0, 1),
      () => {
        begun.push(name);
        return new Promise<void>((resolve) => void ends.push(resolve));
      },
      refuse,
    );
  const endNext = async (running: Promise<void>) => {
    ends.shift()?.();
    await running;
  };
  return { begun, start, endNext };
}

it('groups have the permit in turn, one piece of work at a time', async () => {
  const { begun, start, endNext } = workIn(new FairPermit({ maxWaiting: 10, maxWaitingPerGroup: 10 }));
  const running = Object.fromEntries(
    ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => [name, start(name)] as const),
  );
  const order = ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'];
  for (const [index, name] of order.entries()) {
    expect(begun).toEqual(order.slice(0, index + 1));
    await endNext(running[name] ?? Promise.reject(new Error(name)));
  }
  const again = start('d1');
  expect(begun.at(-1)).toBe('d1');
  await endNext(again);
});

it('refuses what would wait behind too many, in all or of its group', async () => {
  const { start, endNext } = workIn(new FairPermit({ maxWaiting: 3, maxWaitingPerGroup: 2 }));
  const running = ['a1', 'a2', 'a3'].map((name) => start(name));
  await expect(start('a4')).rejects.toThrow('refused');
  running.push(start('b1'));
  await expect(start('c1')).rejects.toThrow('refused');
  for (const index of [0, 1, 3, 2]) await endNext(running[index] ?? Promise.resolve());
});

it('gives the permit back when the work fails', async () => {
  const permit = new FairPermit({ maxWaiting: 1, maxWaitingPerGroup: 1 });
  await expect(permit.run('a', () => Promise.reject(new Error('broken')), refuse)).rejects.toThrow('broken');
  expect(await permit.run('b', () => Promise.resolve(1), refuse)).toBe(1);
});
