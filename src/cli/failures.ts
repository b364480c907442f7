import type { ArgsDef } from 'citty';
import { AppError } from '../resolvers/errors.ts';

/** A command that was not asked for in a way that can be followed; its message says how to. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A failure that its message explains to a person, so that no stack is shown. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

export const exitCodes = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** Runs a command to its exit code; what it throws is told in words, and a bug with its stack. */
export async function reportFailure(
  command: () => Promise<number>,
  stderr: (text: string) => void = (text) => process.stderr.write(text),
): Promise<number> {
  try {
    return await command();
  } catch (error) {
    // By shape, not by class: the reason of a signal is no `Error` of a test's own realm.
    if ((Object(error) as { name?: unknown }).name === 'AbortError') return exitCodes.interrupted;
    stderr(`${describe(error)}\n`);
    return error instanceof Error && usageErrors.has(error.name) ? exitCodes.usage : exitCodes.failed;
  }
}

/** Throws for flags that no one has defined, which citty lets pass, and for words too many. */
export function refuseUnknownArguments(given: Record<string, unknown>, defined: ArgsDef): void {
  const known = new Set(Object.keys(defined).map(flagKey));
  const unknown = Object.keys(given).filter((name) => name !== '_' && !known.has(flagKey(name)));
  if (unknown.length > 0) {
    throw new UsageError(`Unknown ${unknown.map((name) => `--${name}`).join(', ')}; --help lists the flags.`);
  }
  const positional = Object.values(defined).filter(({ type }) => type === 'positional').length;
  const words = Array.isArray(given._) ? given._.slice(positional) : [];
  if (words.length > 0) throw new UsageError(`What is ${JSON.stringify(words[0])}? --help shows how to ask.`);
}

/** What is wrong with a document or its variables: `errors` holds all of it. */
export function messagesOf(error: unknown): string[] {
  const { errors = [error] } = Object(error) as { errors?: unknown[] };
  return errors.map((one) => (one instanceof Error ? one.message : String(one)));
}

const usageErrors: ReadonlySet<string> = new Set(['UsageError', 'ConfigError']);

/** Errors that say in their message all that a person needs. */
const explained: ReadonlySet<string> = new Set([
  ...usageErrors,
  'CommandError',
  'DatabaseUnavailableError',
  'DirectoryHeldError',
]);

const systemProblems: Readonly<Record<string, string>> = {
  EACCES: 'may not be read or written by this user',
  EPERM: 'may not be read or written by this user',
  EROFS: 'is on a file system that cannot be written',
  ENOSPC: 'is on a file system that is full',
  ENOTDIR: 'goes through something that is no directory',
  EEXIST: 'exists and is no directory',
};

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AppError) {
    const violations = error.violations.map(({ field, message }) => `  ${field}: ${message}`);
    return violations.length > 1 ? [error.message, ...violations].join('\n') : error.message;
  }
  if (explained.has(error.name)) return error.message;
  const { code, path } = error as NodeJS.ErrnoException;
  const problem = systemProblems[code ?? ''];
  return problem && path ? `${path} ${problem}.` : (error.stack ?? error.message);
}

/** `data-dir` and `dataDir` are one flag to citty. */
function flagKey(name: string): string {
  return name.replaceAll('-', '').toLowerCase();
}
