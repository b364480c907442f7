import { jest } from '@jest/globals';

const replaceable = [
  'Date',
  'performance',
  'hrtime',
  'nextTick',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
  'setTimeout',
  'clearTimeout',
] as const;

/** Jest then replaces only these parts of time, so that only what uses them waits for the test. */
export function fakeOnly(
  names: readonly (typeof replaceable)[number][],
  options: { now?: number } = {},
): void {
  jest.useFakeTimers({ ...options, doNotFake: replaceable.filter((name) => !names.includes(name)) });
}

/** What is repeated waits for the test. */
export function fakeIntervals(): void {
  fakeOnly(['setInterval', 'clearInterval']);
}
