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

/** Fakes only the named functions and classes of time, so that code which uses others runs as usual. */
export function fakeOnly(
  names: readonly (typeof replaceable)[number][],
  options: { now?: number } = {},
): void {
  jest.useFakeTimers({ ...options, doNotFake: replaceable.filter((name) => !names.includes(name)) });
}

/** Fakes intervals: only the test runs them. */
export function fakeIntervals(): void {
  fakeOnly(['setInterval', 'clearInterval']);
}
