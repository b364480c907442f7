import type { ArgsDef } from 'citty';
import { suggestionFor } from '../model/nearest.ts';
import { AppError } from '../resolvers/errors.ts';
import { escapeControlCharacters } from './visible.ts';

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
    stderr(`${escapeControlCharacters(describeError(error), { keepsLines: true })}\n`);
    return error instanceof Error && usageErrors.has(error.name) ? exitCodes.usage : exitCodes.failed;
  }
}

/** Checks the values of flags by the rules of the API, whose refusals then count as wrong uses of the command. */
export async function withUsageErrors<Result>(check: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof AppError && error.code === 'validation_failed')
      throw new UsageError(describeError(error), { cause: error });
    throw error;
  }
}

/**
 * Throws for what citty accepts: unknown flags, too many positional arguments, and flags without their value, which would
 * otherwise mean that they were not given (`token create --member` would make a token of the owner).
 */
export function refuseWrongArguments(parsed: Record<string, unknown>, defined: ArgsDef): void {
  const definedKeys = new Set(Object.keys(defined).map(flagKey));
  const unknown = Object.keys(parsed).filter((name) => name !== '_' && !definedKeys.has(flagKey(name)));
  if (unknown.length > 0) {
    const [first = ''] = unknown;
    const flags = Object.entries(defined).flatMap(([name, { type }]) =>
      type === 'positional' ? [] : [`--${name}`],
    );
    const advice = suggestionFor(`--${first}`, flags) || '; --help lists the flags.';
    throw new UsageError(`Unknown ${unknown.map((name) => `--${name}`).join(', ')}${advice}`);
  }
  for (const [name, arg] of Object.entries(defined)) {
    // Citty asks for all required flags but those with a choice of values.
    if (arg.type === 'enum' && arg.required && parsed[name] === undefined)
      throw new UsageError(
        `--${name} is missing: one of ${arg.options?.join(', ')}; --help shows the usage.`,
      );
    if (arg.type !== 'string') continue;
    const value = parsed[name];
    const isFlag =
      typeof value === 'string' && value.startsWith('--') && definedKeys.has(flagKey(value.slice(2)));
    if (value === '' || isFlag) throw new UsageError(`--${name} needs a value; --help shows the usage.`);
  }
  const positional = Object.values(defined).filter(({ type }) => type === 'positional').length;
  const unexpected = Array.isArray(parsed._) ? parsed._.slice(positional) : [];
  if (unexpected.length > 0)
    throw new UsageError(`Unexpected argument ${JSON.stringify(unexpected[0])}; --help shows the usage.`);
}

/**
 * The messages of an error of a document or its variables, each with its location in the file, as compilers write it:
 * `query.graphql:2:11: …`. `errors` holds them if there are several.
 */
export function locatedMessagesOf(error: unknown, file: string): string[] {
  return errorsOf(error).map((one) => {
    const [location] =
      (Object(one) as { locations?: readonly { line: number; column: number }[] }).locations ?? [];
    return `${file}${location ? `:${location.line}:${location.column}` : ''}: ${messageOf(one)}`;
  });
}

function errorsOf(error: unknown): readonly unknown[] {
  const { errors = [error] } = Object(error) as { errors?: unknown[] };
  return errors;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const usageErrors: ReadonlySet<string> = new Set(['UsageError', 'ConfigError']);

/** Errors whose message is enough for the user. */
const expectedErrors: ReadonlySet<string> = new Set([
  ...usageErrors,
  'CommandError',
  'DatabaseUnavailableError',
  'DataDirectoryHeldError',
  'ForeignDataDirectoryError',
  'StorageFullError',
  'StorageRefusedError',
  'StorageUnavailableError',
]);

// Codes of PostgreSQL.
const insufficientPrivilege = '42501';
const diskFull = '53100';

const systemProblems: Readonly<Record<string, string>> = {
  EACCES: 'cannot be read or written by this user',
  EPERM: 'cannot be read or written by this user',
  EROFS: 'is on a read-only file system',
  ENOSPC: 'is on a file system that is full',
  ENOENT: 'does not exist and cannot be created',
  ENOTDIR: 'has a parent that is not a directory',
  EEXIST: 'exists and is not a directory',
};

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AppError) {
    const violations = error.violations.map(({ field, message }) => `  ${field}: ${message}`);
    return violations.length > 1 ? [error.message, ...violations].join('\n') : error.message;
  }
  // An error of the store has that of the system as its cause.
  const { code, path } = Object(error.name === 'StorageUnavailableError' ? error.cause : error) as {
    code?: string;
    path?: string;
  };
  const problem = systemProblems[code ?? ''];
  if (problem && path) return `${path} ${problem}.`;
  if (expectedErrors.has(error.name)) return error.message;
  // Errors of writing to an open file do not name it.
  if (code === 'ENOSPC') return 'The disk is full.';
  if (code === diskFull) return `The disk of the database is full: ${error.message}.`;
  if (code === insufficientPrivilege) return `PostgreSQL: ${error.message}. Use a role that owns the tables.`;
  return error.stack ?? error.message;
}

/** citty treats `data-dir` and `dataDir` as the same flag. */
function flagKey(name: string): string {
  return name.replaceAll('-', '').toLowerCase();
}
