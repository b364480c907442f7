import { setImmediate as nextTurn } from 'node:timers/promises';
import { readPool } from '../inputs/pool.ts';
import { startApp } from './app.ts';
import type { Answers, Question, MeasuredOptions } from './measured-app.ts';
import { fillLists } from './full-lists.ts';
import { slowness } from './slowness.ts';

/**
 * Measures the maximum processor time that the thread used between two ticks of a timer. An event loop is also delayed when other
 * processes use the processor, but then the thread uses no processor time itself. `monitorEventLoopDelay` measures nothing between a reset
 * and its next tick, so it misses a request that follows at once.
 */
class TurnTimer {
  maxMs = 0;
  #usedUs = process.threadCpuUsage();
  readonly #timer = setInterval(() => {
    const used = process.threadCpuUsage();
    const tookUs = used.user - this.#usedUs.user + used.system - this.#usedUs.system;
    this.#usedUs = used;
    this.maxMs = Math.max(this.maxMs, tookUs / 1_000);
  }, 1);

  stop(): void {
    clearInterval(this.#timer);
  }
}

// An app in a separate process, so that the test does not delay its event loop. Its parent sends questions as messages.
const app = await startApp(JSON.parse(process.argv[2] ?? '{}') as MeasuredOptions);
const turnTimer = new TurnTimer();

const answers: { [Key in Question]: () => Promise<Answers[Key]> } = {
  app: () => Promise.resolve({ url: app.url, token: app.token }),
  pool: () => readPool(app),
  fillLists: async () => {
    await fillLists(app);
    return null;
  },
  stall: async () => {
    // Timers run between these two turns, and only they can measure the turn that has just ended.
    await nextTurn();
    await nextTurn();
    const { maxMs } = turnTimer;
    turnTimer.maxMs = 0;
    return maxMs;
  },
  slowness: () => Promise.resolve(slowness()),
  stop: async () => {
    turnTimer.stop();
    await app.stop();
    return null;
  },
};
process.on('message', (question: Question) => {
  void answers[question]().then(
    (answer) => process.send?.({ answer }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.send?.({ answer: null });
