import { UsageError } from './failures.ts';

/** Parses the flag that says how many rows a command prints at most. */
export function parseLimit(text: string): number {
  const limit = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= 10_000) return limit;
  throw new UsageError('--limit must be a whole number from 1 to 10000.');
}
