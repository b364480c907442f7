import { LRUCache } from 'lru-cache';
import type { ReadColumn } from '../../db/query/page.ts';
import type { Prepared } from '../../db/query/prepared.ts';

/** Characters of what statements are made of, over all that are cached: some two thousand of them. */
const maxCharacters = 2_000_000;
const statements = new LRUCache<string, Prepared>({
  maxSize: maxCharacters,
  maxEntrySize: maxCharacters / 10,
});

/**
 * A statement by all that it is made of. Operations share theirs: a document that nobody has seen before mostly asks the
 * database for what others have asked it for, and building a statement is the dearest part of compiling a document.
 */
export function statement(parts: readonly unknown[], make: () => Prepared): Prepared {
  const key = JSON.stringify(parts);
  const known = statements.get(key);
  if (known) return known;
  const made = make();
  statements.set(key, made, { size: key.length });
  return made;
}

/** What the columns are, as a part of a statement. */
export function columnParts(columns: readonly ReadColumn[]): readonly string[] {
  return columns.map((column) => (typeof column === 'string' ? column : column.what));
}
