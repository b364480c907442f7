import { cachedTables } from '../tables/cached-tables.ts';
import { inSql } from '../tables/sql-names.ts';

function writesTo(verbs: string, tables: readonly string[], except = '$^'): RegExp {
  return new RegExp(`(?:${verbs}) "?(?:${tables.map(inSql).join('|')})(?![a-z_])(?!${except})`);
}

/** The kinds of writes to which code in this process subscribes, with the pattern of the statements that do them. */
const signals = {
  /**
   * Writes of data that processes cache: reference data and tokens, except for the time at which a token was last used.
   */
  reference: writesTo(
    'insert into|update|delete from|merge into|truncate',
    [...Object.keys(cachedTables), 'accessToken'],
    '" as "t" set "last_used_utc"',
  ),
  /** New changes, which wait for their positions. */
  change: writesTo('insert into', ['changeInbox']),
} as const;

export type WriteSignal = keyof typeof signals;

const allSignals = Object.entries(signals) as [WriteSignal, RegExp][];

/** The signals of a statement. */
export function signalsOf(sql: string): readonly WriteSignal[] {
  if (sql.startsWith('select')) return [];
  return allSignals.flatMap(([signal, pattern]) => (pattern.test(sql) ? [signal] : []));
}

/** Is called with the workspace of a write; undefined if the workspace is unknown. */
type Listener = (workspaceId: string | undefined) => void;

/** Notifies subscribers in this process when a write has been committed or rolled back. */
export class WriteSignals {
  readonly #listeners = new Map<WriteSignal, Set<Listener>>();

  subscribe(signal: WriteSignal, listener: Listener): () => void {
    const listeners = this.#listeners.get(signal) ?? new Set();
    this.#listeners.set(signal, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  notify(signal: WriteSignal, workspaceId: string | undefined): void {
    for (const listener of this.#listeners.get(signal) ?? []) listener(workspaceId);
  }
}
