import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { StreamTokens } from '../../src/server/stream-tokens.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const idle = { fail: () => undefined };

it('a token is checked as long as it has a stream, however often another one has been released', () => {
  const tokens = new StreamTokens();
  let checks = 0;
  const check = async () => void (checks += 1);
  const release = tokens.watch('token', idle, check);
  release();
  const releaseLater = tokens.watch('token', { fail: () => undefined }, check);
  release();
  jest.advanceTimersByTime(60_000);
  expect(checks).toBeGreaterThan(0);
  releaseLater();
  const before = checks;
  jest.advanceTimersByTime(60_000);
  expect(checks).toBe(before);
});
