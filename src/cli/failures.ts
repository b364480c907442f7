import type { ArgsDef } from 'citty';
import { AppError } from '../resolvers/errors.ts';

/** A wrong use of a command; the message says how to use it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A failure whose message is enough for the user, so that no stack is printed. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

export const exitCodes = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/**
 * Runs a command and returns its exit code. An expected failure is printed as a message, any other error with its
 * stack.
 */
export async function reportFailure(
  command: () => Promise<number>,
  stderr: (text: string) => void = (text) => process.stderr.write(text),
): Promise<number> {
  try {
    return await command();
  } catch (error) {
    // Compares the name, not the class: in jest, an aborted signal's reason belongs to another realm's `Error`.
    if ((Object(error) as { name?: unknown }).name === 'AbortError') return exitCodes.interrupted;
    stderr(`${describe(error)}\n`);
    return error instanceof Error && usageErrors.has(error.name) ? exitCodes.usage : exitCodes.failed;
  }
}

/** Throws for unknown flags and for too many positional arguments, which citty both ignores. */
export function refuseUnknownArguments(parsed: Record<string, unknown>, defined: ArgsDef): void {
  const known = new Set(Object.keys(defined).map(flagKey));
  const unknown = Object.keys(parsed).filter((name) => name !== '_' && !known.has(flagKey(name)));
  if (unknown.length > 0) {
    throw new UsageError(`Unknown ${unknown.map((name) => `--${name}`).join(', ')}; --help lists the flags.`);
  }
  const positional = Object.values(defined).filter(({ type }) => type === 'positional').length;
  const words = Array.isArray(parsed._) ? parsed._.slice(positional) : [];
  if (words.length > 0)
    throw new UsageError(`Unexpected argument ${JSON.stringify(words[0])}; --help shows the usage.`);
}

/** The messages of an error of a document or its variables; `errors` holds them if there are several. */
export function messagesOf(error: unknown): string[] {
  const { errors = [error] } = Object(error) as { errors?: unknown[] };
  return errors.map((one) => (one instanceof Error ? one.message : String(one)));
}

const usageErrors: ReadonlySet<string> = new Set(['UsageError', 'ConfigError']);

/** Errors whose message is enough for the user. */
const expectedErrors: ReadonlySet<string> = new Set([
  ...usageErrors,
  'CommandError',
  'DatabaseUnavailableError',
  'DirectoryHeldError',
]);

const systemProblems: Readonly<Record<string, string>> = {
  EACCES: 'cannot be read or written by this user',
  EPERM: 'cannot be read or written by this user',
  EROFS: 'is on a read-only file system',
  ENOSPC: 'is on a file system that is full',
  ENOTDIR: 'has a parent that is not a directory',
  EEXIST: 'exists and is not a directory',
};

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AppError) {
    const violations = error.violations.map(({ field, message }) => `  ${field}: ${message}`);
    return violations.length > 1 ? [error.message, ...violations].join('\n') : error.message;
  }
  if (expectedErrors.has(error.name)) return error.message;
  const { code, path } = error as NodeJS.ErrnoException;
  const problem = systemProblems[code ?? ''];
  return problem && path ? `${path} ${problem}.` : (error.stack ?? error.message);
}

/** citty treats `data-dir` and `dataDir` as the same flag. */
function flagKey(name: string): string {
  return name.replaceAll('-', '').toLowerCase();
}
