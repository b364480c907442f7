import { cachedTables } from '../tables/cached-tables.ts';

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const tables = [...Object.keys(cachedTables), 'accessToken'].map(snake).join('|');
const writing = new RegExp(
  `(?:insert into|update|delete from|merge into|truncate) "?(?:${tables})(?![a-z_])`,
);

/** Does the statement write to what processes keep in memory: reference data, or who a token stands for. */
export function writesReference(sql: string): boolean {
  return !sql.startsWith('select') && writing.test(sql);
}

/** Tells whoever keeps reference data that this process has written some, when the write is committed or undone. */
export class ReferenceWrites {
  readonly #listeners = new Set<() => void>();

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  ended(): void {
    for (const listener of this.#listeners) listener();
  }
}
