import { LRUCache } from 'lru-cache';
import type { ReadColumn } from '../../../db/query/query-base.ts';
import type { Prepared } from '../../../db/statements/prepared.ts';

/** The maximum number of characters in the keys of cached statements, which suffices for about two thousand. */
const maxCharacters = 2_000_000;
const statements = new LRUCache<string, Prepared>({
  maxSize: maxCharacters,
  maxEntrySize: maxCharacters / 10,
});

/**
 * Returns the statement that these values identify. Operations share statements: a new document mostly needs those of
 * other documents, and building statements takes most of the time that compiling a document takes.
 */
export function statement(identity: readonly unknown[], make: () => Prepared): Prepared {
  const key = JSON.stringify(identity);
  const known = statements.get(key);
  if (known) return known;
  const built = make();
  statements.set(key, built, { size: key.length });
  return built;
}

/** What identifies the columns of a statement. */
export function columnIdentity(columns: readonly ReadColumn[]): readonly string[] {
  return columns.map((column) => (typeof column === 'string' ? column : column.description));
}
