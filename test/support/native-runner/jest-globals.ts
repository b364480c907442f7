import { jestExpect } from '@jest/expect';
import { ModernFakeTimers } from '@jest/fake-timers';
import type { Config } from '@jest/types';
import { ModuleMocker } from 'jest-mock';

// Replaces `@jest/globals` in a test file that runs natively, because the real module works only in jest's own contexts.

export { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from 'jest-circus';
export const expect = jestExpect;

const mocker = new ModuleMocker(globalThis);
// Fake timers read only these two fields of a project's configuration.
const config = { fakeTimers: {}, rootDir: import.meta.dirname } as Config.ProjectConfig;
const timers = new ModernFakeTimers({ config, global: globalThis });

export const jest = {
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  useFakeTimers: (options?: Parameters<typeof timers.useFakeTimers>[0]) => timers.useFakeTimers(options),
  useRealTimers: () => timers.useRealTimers(),
  advanceTimersByTime: (ms: number) => timers.advanceTimersByTime(ms),
};
