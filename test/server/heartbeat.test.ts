import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Heartbeat } from '../../src/server/heartbeat.ts';

const everyMs = 1_000;

describe('a heartbeat', () => {
  let questions: number;
  let silences: number;
  let heartbeat: Heartbeat;

  beforeEach(() => {
    jest.useFakeTimers();
    questions = 0;
    silences = 0;
    heartbeat = new Heartbeat({
      everyMs,
      unanswered: 3,
      ask: () => {
        questions += 1;
      },
      onSilence: () => {
        silences += 1;
      },
    });
  });

  afterEach(() => {
    heartbeat.stop();
    jest.useRealTimers();
  });

  it('asks once and tells once of a silence', () => {
    jest.advanceTimersByTime(3 * everyMs);
    expect([questions, silences]).toEqual([1, 0]);
    jest.advanceTimersByTime(7 * everyMs);
    expect([questions, silences]).toEqual([1, 1]);
  });

  it('asks again after an answer, however late', () => {
    for (let round = 0; round < 5; round += 1) {
      jest.advanceTimersByTime(3 * everyMs);
      heartbeat.answered();
    }
    expect([questions, silences]).toEqual([5, 0]);
  });
});

it('a heartbeat does not take a pause of its own process for a silence of the other one', async () => {
  const { promise: answered, resolve } = Promise.withResolvers<string>();
  const heartbeat: Heartbeat = new Heartbeat({
    everyMs: 1,
    unanswered: 20,
    // The answer arrives while this process is blocked, for far longer than the permitted silence.
    ask: () => {
      setImmediate(() => {
        heartbeat.answered();
        resolve('answered');
      });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    },
    onSilence: () => resolve('silent'),
  });
  expect(await answered).toBe('answered');
  heartbeat.stop();
});
