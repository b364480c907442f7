import { cachedTables } from '../tables/cached-tables.ts';
import { inSql } from '../tables/sql-names.ts';

function writesTo(verbs: string, tables: readonly string[]): RegExp {
  return new RegExp(`(?:${verbs}) "?(?:${tables.map(inSql).join('|')})(?![a-z_])`);
}

/** What somebody in the process waits for, and the statements that write it. */
const signals = {
  /** Data that processes cache: reference data, and the principals of tokens. */
  reference: writesTo('insert into|update|delete from|merge into|truncate', [
    ...Object.keys(cachedTables),
    'accessToken',
  ]),
  /** Changes that wait for their position. */
  change: writesTo('insert into', ['changeInbox']),
} as const;

export type WriteSignal = keyof typeof signals;

const allSignals = Object.entries(signals) as [WriteSignal, RegExp][];

/** What a statement writes that somebody in the process waits for. */
export function signalsOf(sql: string): readonly WriteSignal[] {
  if (sql.startsWith('select')) return [];
  return allSignals.flatMap(([signal, pattern]) => (pattern.test(sql) ? [signal] : []));
}

/** Hears of a write in this workspace, or, if it is undefined, in any one. */
type Listener = (workspaceId: string | undefined) => void;

/** Tells those who wait for a kind of write of this process, when the write is committed or undone. */
export class WriteSignals {
  readonly #listeners = new Map<WriteSignal, Set<Listener>>();

  subscribe(signal: WriteSignal, listener: Listener): () => void {
    const listeners = this.#listeners.get(signal) ?? new Set();
    this.#listeners.set(signal, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  ended(signal: WriteSignal, workspaceId: string | undefined): void {
    for (const listener of this.#listeners.get(signal) ?? []) listener(workspaceId);
  }
}
