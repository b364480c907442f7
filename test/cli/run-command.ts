import type { CommandEnvironment } from '../../src/cli/environment.ts';

/** The result of a command: its exit code, its data and its messages. */
export interface Ran {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Runs a command on a database, without a terminal; `options` replaces parts of its environment. */
export async function runCommand(
  { database, dataDir, store }: Pick<CommandEnvironment, 'database' | 'dataDir' | 'store'>,
  command: (env: CommandEnvironment) => Promise<number>,
  options: Partial<CommandEnvironment> = {},
): Promise<Ran> {
  const ran: Ran = { exitCode: 0, stdout: '', stderr: '' };
  ran.exitCode = await command({
    database,
    dataDir,
    store,
    stdout: (text) => void (ran.stdout += text),
    drained: () => Promise.resolve(),
    stderr: (text) => void (ran.stderr += text),
    isTty: false,
    operator: { name: 'tester', host: 'here' },
    columns: 80,
    cwd: dataDir,
    signal: new AbortController().signal,
    ...options,
  });
  return ran;
}
