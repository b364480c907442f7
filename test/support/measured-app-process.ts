import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readPool } from '../inputs/pool.ts';
import { startApp } from './app.ts';
import type { Answered, Asked, MeasuredOptions } from './measured-app.ts';
import { fillLists } from './longest-lists.ts';

/**
 * How long the thread has computed at most between two ticks of a timer. A loop that stands still because other
 * processes have the processor is delayed as well, but does not compute.
 */
class LongestTurn {
  longestMs = 0;
  #usedUs = process.threadCpuUsage();
  readonly #timer = setInterval(() => {
    const used = process.threadCpuUsage();
    const tookUs = used.user - this.#usedUs.user + used.system - this.#usedUs.system;
    this.#usedUs = used;
    this.longestMs = Math.max(this.longestMs, tookUs / 1_000);
  }, 1);

  stop(): void {
    clearInterval(this.#timer);
  }
}

// An app in a process of its own, whose event loop nothing of a test delays. It is asked over the channel to its parent.
const app = await startApp(JSON.parse(process.argv[2] ?? '{}') as MeasuredOptions);
const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();
const computing = new LongestTurn();

const answer: { [Question in Asked]: () => Promise<Answered[Question]> } = {
  app: () => Promise.resolve({ url: app.url, token: app.token }),
  pool: () => readPool(app),
  fillLists: async () => {
    await fillLists(app);
    return null;
  },
  stall: async () => {
    // Timers run between these two, and only they tell of a turn that has just ended.
    await nextTurn();
    await nextTurn();
    const ms = Math.min(delays.max / 1e6, computing.longestMs);
    delays.reset();
    computing.longestMs = 0;
    return ms;
  },
  stop: async () => {
    delays.disable();
    computing.stop();
    await app.stop();
    return null;
  },
};
process.on('message', (asked: Asked) => {
  void answer[asked]().then(
    (answered) => process.send?.({ answered }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.send?.({ answered: null });
