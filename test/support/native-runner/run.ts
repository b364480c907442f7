import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { jestExpect } from '@jest/expect';
import { type AssertionResult, createEmptyTestResult, type TestResult } from '@jest/test-result';
import { addEventHandler, getState, resetState, run } from 'jest-circus';
import { formatExecError, formatResultsErrors } from 'jest-message-util';
import { takeHint } from '../samples.ts';
import { withoutAssertions } from './without-assertions.ts';

// Jest's own runner gives every test file a new context, in which all modules are loaded, the schema is built and V8
// optimizes the code again: more than a third of the processor time of the suite. Here Node itself loads the modules,
// once for all files of a worker. jest-circus still runs the tests.

const globals = pathToFileURL(join(import.meta.dirname, 'jest-globals.ts')).href;

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === '@jest/globals' ? { url: globals, shortCircuit: true } : nextResolve(specifier, context),
});

addEventHandler((event) => {
  if (event.name === 'test_start') jestExpect.setState({ currentTestName: event.test.name });
  if (event.name === 'test_fn_start') jestExpect.setState(noAssertions);
  if (event.name === 'test_fn_success') event.test.errors.push(...assertionErrors(event.test.name));
});

/** The state of `expect` before a test. */
const noAssertions = { assertionCalls: 0, expectedAssertionsNumber: null, isExpectingAssertions: false };

/** A test without assertions would pass whatever the answers are, so it fails, unless it declares their number or is listed. */
function assertionErrors(name: string): Error[] {
  const { assertionCalls, expectedAssertionsNumber, testPath = '' } = jestExpect.getState();
  const counted = jestExpect.extractExpectedAssertionsErrors().map(({ error }) => error);
  if (assertionCalls > 0 || typeof expectedAssertionsNumber === 'number') return counted;
  const listed = Object.entries(withoutAssertions).some(
    ([file, names]) => testPath.endsWith(`/test/${file}`) && names.includes(name),
  );
  return listed ? [] : [new Error('The test asserts nothing.')];
}

type Configs = readonly [
  globalConfig: Parameters<typeof formatResultsErrors>[2] & {
    readonly testTimeout?: number;
    readonly testNamePattern?: string;
    readonly maxConcurrency: number;
    readonly expand?: boolean;
    readonly randomize?: boolean;
    readonly seed: number;
  },
  config: Parameters<typeof formatResultsErrors>[1] & { readonly testTimeout?: number },
];

type RunArguments = [...Configs, environment: unknown, runtime: unknown, testPath: string];

/** A test file that starts with this comment runs in its own process: it changes modules of the product, or needs fresh ones. */
const ownProcess = '// @own-process';

/** Runs one test file. Jest's option `testRunner` names this module. */
export default async function runFile(
  ...[globalConfig, config, , , testPath]: RunArguments
): Promise<TestResult> {
  if (!readFileSync(testPath, 'utf8').startsWith(ownProcess))
    return runNatively(globalConfig, config, testPath);
  const child = fork(join(import.meta.dirname, 'own-process.ts'), {
    serialization: 'advanced',
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  child.send({ globalConfig, config, testPath } satisfies OwnRun);
  const [result] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`The process of ${testPath} ended with ${code}.`);
    }),
  ]);
  child.disconnect();
  return result as TestResult;
}

/** The message that starts the run in the process of a test file. */
export interface OwnRun {
  readonly globalConfig: Configs[0];
  readonly config: Configs[1];
  readonly testPath: string;
}

export async function runNatively(
  globalConfig: Configs[0],
  config: Configs[1],
  testPath: string,
): Promise<TestResult> {
  resetState();
  const state = getState();
  state.testTimeout = globalConfig.testTimeout ?? config.testTimeout ?? state.testTimeout;
  state.maxConcurrency = globalConfig.maxConcurrency;
  // Tests that need an earlier one fail in another order: `npm test -- --randomize`.
  state.randomize = globalConfig.randomize === true;
  state.seed = globalConfig.seed;
  if (globalConfig.testNamePattern) state.testNamePattern = new RegExp(globalConfig.testNamePattern, 'i');
  jestExpect.setState({ expand: globalConfig.expand, testPath });
  const start = Date.now();
  const stopCatching = catchUnhandledErrors();
  try {
    // Loaded after the hook above, because these modules import `@jest/globals` as well.
    await import('../validated-fetch.ts');
    const { watchFallbacks } = await import('../fallback-watch.ts');
    watchFallbacks();
    takeHint();
    await import(pathToFileURL(testPath).href);
    const { testResults, unhandledErrors, unhandledErrorsDetailed } = await run();
    const results = testResults.map(assertionResult);
    const count = (status: AssertionResult['status']) =>
      results.filter((result) => result.status === status).length;
    const failures = [
      formatResultsErrors(results, config, globalConfig, testPath),
      ...unhandledErrorsDetailed.map((error) => formatExecError(error, config, globalConfig)),
    ].filter((message) => message !== null);
    const hint = takeHint();
    if (hint && failures.length > 0) failures.push(hint);
    const empty = createEmptyTestResult();
    const end = Date.now();
    return {
      ...empty,
      failureMessage: failures.length > 0 ? failures.join('\n\n') : null,
      numFailingTests: count('failed'),
      numPassingTests: count('passed'),
      numPendingTests: count('pending'),
      testExecError:
        unhandledErrors.length > 0 ? { message: '', stack: unhandledErrors.join('\n') } : undefined,
      testFilePath: testPath,
      testResults: results,
      perfStats: { ...empty.perfStats, start, end, runtime: end - start },
    };
  } finally {
    stopCatching();
  }
}

type RunTest = Awaited<ReturnType<typeof run>>['testResults'][number];

function assertionResult({ testPath, status, errors, errorsDetailed, ...result }: RunTest): AssertionResult {
  // The first entry is the root block, which has no name.
  const titles = testPath.slice(1).map(String);
  return {
    ancestorTitles: titles.slice(0, -1),
    duration: result.duration,
    failureDetails: errorsDetailed,
    failureMessages: [...errors],
    fullName: titles.join(' '),
    invocations: result.invocations,
    location: result.location,
    numPassingAsserts: result.numPassingAsserts,
    status: status === 'skip' ? 'pending' : errors.length > 0 ? 'failed' : 'passed',
    title: titles.at(-1) ?? '',
  };
}

/** Makes an unhandled error fail the running test instead of ending the worker. */
function catchUnhandledErrors(): () => void {
  const rejections = new Map<Promise<unknown>, { errors: unknown[]; error: unknown }>();
  const fail = (error: unknown) => {
    const { currentlyRunningTest, unhandledErrors } = getState();
    const errors: unknown[] = currentlyRunningTest?.errors ?? unhandledErrors;
    errors.push(error);
    return errors;
  };
  const rejected = (error: unknown, promise: Promise<unknown>) =>
    void rejections.set(promise, { errors: fail(error), error });
  // A rejection that is handled one turn later is not an error.
  const handled = (promise: Promise<unknown>) => {
    const { errors = [], error } = rejections.get(promise) ?? {};
    const index = errors.indexOf(error);
    if (index >= 0) errors.splice(index, 1);
  };
  const listeners = { uncaughtException: fail, unhandledRejection: rejected, rejectionHandled: handled };
  const before = Object.keys(listeners).map((event) => ({
    event,
    listeners: process.listeners(event as never),
  }));
  for (const [event, listener] of Object.entries(listeners)) {
    process.removeAllListeners(event);
    process.on(event, listener);
  }
  return () => {
    for (const { event, listeners: earlier } of before) {
      process.removeAllListeners(event);
      for (const listener of earlier) process.on(event, listener);
    }
  };
}
