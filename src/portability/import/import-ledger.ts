import { type ImportedBefore, type ImportKind, selectImported, type StoredRecord } from '../../db/imports.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import { upsertImportSources } from '../../db/writes/import-writes.ts';

/** The row that an object of a source became. `record` has its fingerprint and the data without a column. */
export interface LedgerEntry {
  readonly sourceId: string;
  readonly targetId: string;
  readonly record?: StoredRecord & Readonly<Record<string, unknown>>;
}

/** Remembers which rows the objects of a source became, so that none is imported twice and parents can be found. */
export interface ImportLedger {
  find(trx: Trx, kind: ImportKind, sourceIds: readonly string[]): Promise<Map<string, ImportedBefore>>;
  remember(trx: Trx, kind: ImportKind, entries: readonly LedgerEntry[]): Promise<void>;
}

/** Stores the ledger in the database, for later imports of the same source. */
export function databaseLedger(source: string): ImportLedger {
  return {
    find: (trx, kind, sourceIds) => selectImported(trx, source, kind, sourceIds),
    remember: (trx, kind, entries) =>
      upsertImportSources(
        trx,
        entries.map(({ sourceId, targetId, record = {} }) => {
          return { source, kind, sourceId, targetId, record: JSON.stringify(record) };
        }),
      ),
  };
}

/** Holds the ledger in memory, for an import that is never repeated. */
export function memoryLedger(): ImportLedger {
  const known = new Map<ImportKind, Map<string, ImportedBefore>>();
  return {
    find: (_trx, kind, sourceIds) => {
      const ofKind = known.get(kind);
      return Promise.resolve(
        new Map(
          sourceIds.flatMap((sourceId) => {
            const entry = ofKind?.get(sourceId);
            return entry ? [[sourceId, entry] as const] : [];
          }),
        ),
      );
    },
    remember: (_trx, kind, entries) => {
      const ofKind = known.get(kind) ?? new Map<string, ImportedBefore>();
      known.set(kind, ofKind);
      for (const { sourceId, targetId, record = {} } of entries)
        ofKind.set(sourceId, { sourceId, targetId, record });
      return Promise.resolve();
    },
  };
}
