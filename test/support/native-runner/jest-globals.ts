import { jestExpect } from '@jest/expect';
import { ModernFakeTimers } from '@jest/fake-timers';
import type { Config } from '@jest/types';
import { ModuleMocker } from 'jest-mock';

// What `@jest/globals` is in a test file that runs natively; the real module works in jest's own contexts only.

export { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from 'jest-circus';
export const expect = jestExpect;

const mocker = new ModuleMocker(globalThis);
// Of a project's configuration, fake timers read these two fields.
const config = { fakeTimers: {}, rootDir: import.meta.dirname } as Config.ProjectConfig;
const timers = new ModernFakeTimers({ config, global: globalThis });

export const jest = {
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  useFakeTimers: (options?: Parameters<typeof timers.useFakeTimers>[0]) => timers.useFakeTimers(options),
  useRealTimers: () => timers.useRealTimers(),
  advanceTimersByTime: (ms: number) => timers.advanceTimersByTime(ms),
};
