import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Pool } from '../inputs/pool.ts';
import type { AppOptions } from './app.ts';

/** How an app in another process is started. */
export type MeasuredOptions = Pick<AppOptions, 'demo' | 'settings'>;

/** What the process can be asked, and what it answers. */
export interface Answered {
  app: { url: string; token: string };
  pool: Pool;
  /** Gives one team a page of issues whose lists are as long as they may be. */
  fillLists: null;
  /** The longest time in milliseconds that its event loop has stood still since the last such question. */
  stall: number;
  stop: null;
}
export type Asked = keyof Answered;

/** An app in a process of its own, which tells how long its event loop stands still. */
export interface MeasuredApp {
  readonly url: string;
  readonly token: string;
  pool(): Promise<Pool>;
  fillLists(): Promise<void>;
  stall(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * The longest that one request may keep all others waiting, in milliseconds. Whole runs have two workers, which slow each
 * other down; QUIET=1 says that nothing else runs.
 */
export const longestStallMs = process.env.QUIET === '1' ? 100 : 300;

const script = join(import.meta.dirname, 'measured-app-process.ts');

export async function startMeasuredApp(options: MeasuredOptions = {}): Promise<MeasuredApp> {
  const child = fork(script, [JSON.stringify(options)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const ended = once(child, 'exit') as Promise<[number]>;
  const failed = ended.then(([code]) => {
    throw new Error(`The measured app ended with ${code}.`);
  });
  failed.catch(() => undefined);
  const message = async () => {
    const [given] = (await Promise.race([once(child, 'message'), failed])) as [
      { answered: unknown; error?: string },
    ];
    if (given.error !== undefined) throw new Error(given.error);
    return given.answered;
  };
  let last: Promise<unknown> = message();
  const ask = <Question extends Asked>(question: Question): Promise<Answered[Question]> => {
    const answered = last.then(() => {
      const answering = message();
      child.send(question);
      return answering;
    });
    last = answered.catch(() => undefined);
    return answered as Promise<Answered[Question]>;
  };
  const { url, token } = await ask('app');
  return {
    url,
    token,
    pool: () => ask('pool'),
    fillLists: async () => void (await ask('fillLists')),
    stall: () => ask('stall'),
    stop: async () => {
      await ask('stop');
      child.disconnect();
      await ended;
    },
  };
}
