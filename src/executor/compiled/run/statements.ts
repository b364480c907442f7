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
 * Returns the statement that is identified by these parts. Operations share statements: a new document mostly needs those of
 * other documents, and building statements takes most of the time to compile a document.
 */
export function statement(parts: readonly unknown[], make: () => Prepared): Prepared {
  const key = JSON.stringify(parts);
  const known = statements.get(key);
  if (known) return known;
  const built = make();
  statements.set(key, built, { size: key.length });
  return built;
}

/** The columns as a part of a statement's key. */
export function columnParts(columns: readonly ReadColumn[]): readonly string[] {
  return columns.map((column) => (typeof column === 'string' ? column : column.description));
}
