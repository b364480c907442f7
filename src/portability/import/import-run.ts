import type { Database } from '../../db/engine/engine.ts';
import { analyzeTables, estimatedIssues } from '../../db/statistics.ts';
import { inTransaction } from '../../db/engine/transaction.ts';
import type { TenantDb } from '../../db/tables/tenant-tables.ts';
import { isConnectionLoss } from '../../db/engine/unavailable.ts';
import type { AuditAct } from '../../model/audit-acts.ts';
import { type Actor, type AuditedAction, recordAuditEntries } from '../../resolvers/access/audit.ts';
import { BatchSize } from './batch-size.ts';
import { type BatchOutcome, importBatch, type ImportRow, type WaitingChild } from './import-batch.ts';
import { logImported } from './import-events.ts';
import { cleanIssue } from './import-clean.ts';
import type { SourceLine } from './import-issue.ts';
import type { ImportTarget } from './import-people.ts';

/** Receives refusals, warnings and progress during an import. */
export interface ImportReporter {
  refused(line: number, reason: string): void;
  warning(line: number, text: string): void;
  /** Called after each batch. */
  progress(summary: Readonly<ImportSummary>): void;
}

/** The result of an import. */
export interface ImportSummary {
  /** Lines that are issues and were imported. */
  issues: number;
  created: number;
  updated: number;
  unchanged: number;
  /** Issues that were imported before and deleted here since. They remain deleted. */
  deletedHere: number;
  refused: number;
  /** Issues that were deleted in the source. */
  tombstones: number;
  /** Records of the source that are not issues, such as the memories of beads' agents. */
  otherRecords: number;
  comments: number;
  labels: number;
  members: number;
  /** Issues whose parents were set. */
  parents: number;
  /** Parents that the file does not have, or has as tombstones. */
  parentsMissing: number;
  /** Relations of other kinds and fields without a column here, which are stored with the source record. */
  relationsKept: number;
  fieldsKept: number;
  warnings: number;
  /** Whether the import was interrupted. */
  isStopped: boolean;
}

export interface ImportOptions {
  /** The handle of the workspace. If it is a transaction, the import is part of it and fails as a whole. */
  readonly db: TenantDb;
  /** Updates the statistics for the query planner. Undefined in a transaction, whose caller does that afterwards. */
  readonly unscoped: Database['unscoped'] | undefined;
  readonly actor: Actor;
  readonly target: ImportTarget;
  readonly lines: AsyncIterable<SourceLine>;
  readonly reporter: ImportReporter;
  readonly signal: AbortSignal;
}

/**
 * Issues per batch if the whole import is one transaction. Larger batches need fewer statements, but a batch must fit
 * into one insert, since an issue may refer to a parent in the same batch.
 */
const batchSizeInTransaction = 500;
/** Bytes of text per transaction, which limits the memory for files with long descriptions. */
const batchBytes = 4_000_000;

/**
 * Imports the issues of a source in batches, each in a transaction. If the import is interrupted at any point, running
 * it again completes it, and running it once more changes nothing.
 */
export async function importIssues(options: ImportOptions): Promise<ImportSummary> {
  const { db, actor, target } = options;
  const audit = (act: AuditAct, changes: AuditedAction['changes'] = {}) => {
    const subject = { kind: 'import', name: target.source };
    return inTransaction(db, async (trx) => {
      await recordAuditEntries(trx, actor, [{ act, subject, changes }]);
      if (act === 'import.finished')
        await logImported(trx, 'import.finished.v1', [{ id: target.workspaceId }]);
    });
  };
  await audit('import.started');
  const summary = await new ImportRun(options).run();
  const counts = Object.entries(summary).map(([name, count]) => [name, { after: count as unknown }]);
  await audit('import.finished', Object.fromEntries(counts));
  return summary;
}

class ImportRun {
  readonly #options: ImportOptions;
  readonly #summary: ImportSummary = {
    issues: 0,
    created: 0,
    updated: 0,
    unchanged: 0,
    deletedHere: 0,
    refused: 0,
    tombstones: 0,
    otherRecords: 0,
    comments: 0,
    labels: 0,
    members: 0,
    parents: 0,
    parentsMissing: 0,
    relationsKept: 0,
    fieldsKept: 0,
    warnings: 0,
    isStopped: false,
  };
  /** The line of each id, to detect duplicates. */
  readonly #lineOf = new Map<string, number>();
  /** The ids in the source of issues that were deleted there and are not imported. */
  readonly #tombstones = new Set<string>();
  /** The ids in the source of issues that are imported as deleted. */
  readonly #deleted = new Set<string>();
  /** Issues that wait for their parent, by its id in the source. */
  readonly #waiting = new Map<string, WaitingChild[]>();
  #batch: ImportRow[] = [];
  #batchedBytes = 0;
  #bytesRead = 0;
  readonly #size = new BatchSize();
  /** The number of issues before the import. */
  #issuesBefore = 0;
  /** The number of issues at the last update of the statistics. */
  #issuesAtAnalysis = 0;

  constructor(options: ImportOptions) {
    this.#options = options;
  }

  async run(): Promise<ImportSummary> {
    const { db, unscoped } = this.#options;
    if (unscoped) this.#issuesBefore = await estimatedIssues(unscoped);
    this.#issuesAtAnalysis = this.#issuesBefore;
    for await (const line of this.#options.lines) {
      if (this.#options.signal.aborted) return this.#stop();
      this.#batchedBytes += line.bytesRead - this.#bytesRead;
      this.#bytesRead = line.bytesRead;
      this.#take(line);
      const size = db.isTransaction ? batchSizeInTransaction : this.#size.issues;
      if (this.#batch.length >= size || this.#batchedBytes >= batchBytes) await this.#flush();
    }
    if (this.#options.signal.aborted) return this.#stop();
    await this.#flush();
    await this.#analyzeIfMoreThan(1.1 * this.#issuesAtAnalysis);
    this.#reportMissingParents();
    return this.#summary;
  }

  #stop(): ImportSummary {
    this.#summary.isStopped = true;
    return this.#summary;
  }

  #take(line: SourceLine): void {
    if (line.kind === 'refused') return this.#refuse(line.line, line.reason);
    if (line.kind === 'tombstone') {
      this.#summary.tombstones += 1;
      this.#tombstones.add(line.sourceId);
      return undefined;
    }
    if (line.kind === 'other') {
      this.#summary.otherRecords += 1;
      return undefined;
    }
    const clean = cleanIssue(line.issue, new Date());
    if ('refused' in clean) return this.#refuse(line.line, clean.refused);
    const { issue } = clean;
    const earlier = this.#lineOf.get(issue.sourceId);
    if (earlier !== undefined)
      return this.#refuse(line.line, `its id ${issue.sourceId} is already used in line ${earlier}`);
    this.#lineOf.set(issue.sourceId, line.line);
    if (issue.deletedUtc) this.#deleted.add(issue.sourceId);
    for (const text of summarized([...(line.warnings ?? []), ...clean.warnings])) this.#warn(line.line, text);
    this.#summary.relationsKept += issue.relations.length;
    this.#summary.fieldsKept += Object.keys(issue.fields).length;
    this.#batch.push({ line: line.line, issue });
    return undefined;
  }

  async #flush(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    this.#batchedBytes = 0;
    const startedMs = performance.now();
    await this.#write(batch);
    if (batch.length > 0) this.#size.took(batch.length, performance.now() - startedMs);
    // Plans for a table that was small are bad for a large one, so the statistics follow each time it has doubled.
    await this.#analyzeIfMoreThan(2 * this.#issuesAtAnalysis + 99);
    this.#options.reporter.progress(this.#summary);
  }

  async #analyzeIfMoreThan(issues: number): Promise<void> {
    const { unscoped } = this.#options;
    const issuesNow = this.#issuesBefore + this.#summary.created;
    if (!unscoped || issuesNow <= issues) return;
    this.#issuesAtAnalysis = issuesNow;
    await analyzeTables(unscoped);
  }

  /** Writes rows in one transaction. If the database refuses a row, writes the halves separately, to find that row. */
  async #write(rows: readonly ImportRow[]): Promise<void> {
    const [first] = rows;
    if (!first) return;
    const { db, target } = this.#options;
    const { files } = target;
    const filesBefore = files.count;
    const earlier = { waiting: this.#waiting, deleted: this.#deleted };
    let outcome: BatchOutcome;
    try {
      outcome = await inTransaction(db, async (trx) => {
        // A transaction that is retried stores its files under new names, so those of the first attempt are removed.
        await files.removeAfter(filesBefore);
        return importBatch(trx, target, rows, earlier);
      });
    } catch (error) {
      await files.removeAfter(filesBefore);
      // If the whole import is one transaction, it cannot continue after an error.
      if (!isAboutARow(error) || db.isTransaction) throw error;
      if (rows.length === 1) return this.#refuse(first.line, `the database refuses it: ${error.message}`);
      const middle = Math.ceil(rows.length / 2);
      await this.#write(rows.slice(0, middle));
      return this.#write(rows.slice(middle));
    }
    return this.#count(rows, outcome);
  }

  #count(rows: readonly ImportRow[], outcome: BatchOutcome): void {
    const summary = this.#summary;
    summary.issues += rows.length - outcome.refused.length;
    const counted = [
      'created',
      'updated',
      'unchanged',
      'deletedHere',
      'comments',
      'labels',
      'members',
      'parents',
    ] as const;
    for (const name of counted) summary[name] += outcome[name];
    for (const { line, text } of outcome.refused) this.#refuse(line, text);
    for (const { line, text } of outcome.warnings) this.#warn(line, text);
    // Issues that waited for a parent in this batch have it now.
    for (const { line, issue } of rows) {
      if (!outcome.refused.some((refused) => refused.line === line)) this.#waiting.delete(issue.sourceId);
    }
    for (const child of outcome.waiting) {
      const siblings = this.#waiting.get(child.parentSourceId);
      if (siblings) siblings.push(child);
      else this.#waiting.set(child.parentSourceId, [child]);
    }
  }

  #reportMissingParents(): void {
    const missing = [...this.#waiting.values()].flat();
    this.#summary.parentsMissing = missing.length;
    for (const { line, parentSourceId } of missing.sort((left, right) => left.line - right.line)) {
      if (!this.#tombstones.has(parentSourceId))
        this.#warn(line, `its parent ${parentSourceId} is not in the file`);
    }
  }

  #refuse(line: number, reason: string): void {
    this.#summary.refused += 1;
    this.#options.reporter.refused(line, reason);
  }

  #warn(line: number, text: string): void {
    this.#summary.warnings += 1;
    this.#options.reporter.warning(line, text);
  }
}

/** How many different warnings about the values of one line are listed. */
const warningsPerLine = 20;

/** The different warnings among those of a line, each with the number of times that it occurs. */
function summarized(warnings: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const text of warnings) counts.set(text, (counts.get(text) ?? 0) + 1);
  const all = [...counts].map(([text, count]) => (count > 1 ? `${text} (${count} times)` : text));
  if (all.length <= warningsPerLine) return all;
  return [...all.slice(0, warningsPerLine), `and ${all.length - warningsPerLine} other warnings`];
}

/** Whether an SQL error is about the written values (invalid values, violated constraints, exceeded limits). */
function isAboutARow(error: unknown): error is Error {
  if (!(error instanceof Error) || isConnectionLoss(error) || !('code' in error)) return false;
  return /^(?:22|23|54)\w{3}$/.test(String(error.code));
}
