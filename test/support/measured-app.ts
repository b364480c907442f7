import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Pool } from '../inputs/pool.ts';
import type { AppOptions } from './app.ts';

/** The options of an app in another process. */
export type MeasuredOptions = Pick<AppOptions, 'demo' | 'settings'>;

/** The questions that the process answers, with the types of the answers. */
export interface Answers {
  app: { url: string; token: string };
  pool: Pool;
  /** Gives one team a page of issues whose lists have their maximum length. */
  fillLists: null;
  /** The maximum time in milliseconds for which its event loop was blocked since the last such question. */
  stall: number;
  /** By which factor its machine computes more slowly than usual at the moment; 1 if it is as fast or faster. */
  slowness: number;
  stop: null;
}
export type Question = keyof Answers;

/** An app in a separate process, which reports for how long its event loop was blocked. */
export interface MeasuredApp {
  readonly url: string;
  readonly token: string;
  pool(): Promise<Pool>;
  fillLists(): Promise<void>;
  stall(): Promise<number>;
  slowness(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * The maximum time in milliseconds for which one request may block all others. A run of all tests has two workers, which
 * slow each other down; set QUIET=1 when nothing else runs.
 */
export const maxStallMs = process.env.QUIET === '1' ? 100 : 300;

const script = join(import.meta.dirname, 'measured-app-process.ts');

export async function startMeasuredApp(options: MeasuredOptions = {}): Promise<MeasuredApp> {
  const child = fork(script, [JSON.stringify(options)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const exit = once(child, 'exit') as Promise<[number]>;
  const failure = exit.then(([code]) => {
    throw new Error(`The measured app ended with ${code}.`);
  });
  failure.catch(() => undefined);
  const nextAnswer = async () => {
    const [reply] = (await Promise.race([once(child, 'message'), failure])) as [
      { answer: unknown; error?: string },
    ];
    if (reply.error !== undefined) throw new Error(reply.error);
    return reply.answer;
  };
  let last: Promise<unknown> = nextAnswer();
  const ask = <Key extends Question>(question: Key): Promise<Answers[Key]> => {
    const reply = last.then(() => {
      const answer = nextAnswer();
      child.send(question);
      return answer;
    });
    last = reply.catch(() => undefined);
    return reply as Promise<Answers[Key]>;
  };
  const { url, token } = await ask('app');
  return {
    url,
    token,
    pool: () => ask('pool'),
    fillLists: async () => void (await ask('fillLists')),
    stall: () => ask('stall'),
    slowness: () => ask('slowness'),
    stop: async () => {
      await ask('stop');
      child.disconnect();
      await exit;
    },
  };
}
