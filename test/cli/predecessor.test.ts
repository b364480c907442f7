import { expect, it } from '@jest/globals';
import { Predecessor } from '../../src/cli/serve/predecessor.ts';

it('a start tries again when the other server has ended before it could say that it is stopping', async () => {
  const messages: string[] = [];
  let isHeld = true;
  const attempt = () => {
    if (isHeld) throw new Error('The port is in use.');
    return 'listening';
  };
  const isStopping = () => (isHeld = false);
  expect(await new Predecessor((text) => messages.push(text)).wait(attempt, isStopping)).toBe('listening');
  expect(messages).toEqual([]);
});

it('a start fails when the port belongs to a server that is not stopping', async () => {
  let attempts = 0;
  const attempt = () => {
    attempts += 1;
    throw new Error('The port is in use.');
  };
  const waiting = new Predecessor(() => undefined).wait(attempt, () => false);
  await expect(waiting).rejects.toThrow('The port is in use.');
  expect(attempts).toBe(2);
});
