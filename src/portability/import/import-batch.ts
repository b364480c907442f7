import { lockWorkspaceDirectory } from '../../db/directory.ts';
import { changeOrigin } from '../../model/codes.ts';
import { parentChangeEvent, setParents } from '../../resolvers/issues/sub-issues.ts';
import { recountIssues } from './import-recount.ts';
import { type ImportedBefore, selectIssuesNotDeleted } from '../../db/imports.ts';
import { lockParents } from '../../db/reads/issue-tree.ts';
import { lockIssues } from '../../db/issues.ts';
import type { Row } from '../../db/tables/tables.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import { updateChanged } from './import-changes.ts';
import type { CleanIssue } from './import-clean.ts';
import { insertNewIssues } from './import-inserts.ts';
import type { ImportWarning } from './import-history.ts';
import { IssueForest, type BatchParents } from './import-parents.ts';
import { findPeople, type ImportTarget, type People } from './import-people.ts';
import { ImportReferences } from './import-references.ts';
import { stagesOf } from './import-stages.ts';
import { assigneesOf, type PreparedIssue } from './import-rows.ts';

/** An issue of the file, and its line number. */
export interface ImportRow {
  readonly line: number;
  readonly issue: CleanIssue;
}

/** An issue whose parent has not been imported yet, by their ids in the source. */
export interface WaitingChild {
  readonly line: number;
  readonly sourceId: string;
  readonly parentSourceId: string;
}

/** What a batch needs to know about earlier lines of the file. */
export interface EarlierLines {
  /** Issues that wait for their parent, by its id in the source. */
  readonly waiting: ReadonlyMap<string, readonly WaitingChild[]>;
  /** The ids in the source of issues that are deleted there. */
  readonly deleted: ReadonlySet<string>;
}

/** The result of a batch. It is valid once the transaction of the batch has been committed. */
export interface BatchOutcome {
  created: number;
  updated: number;
  unchanged: number;
  deletedHere: number;
  comments: number;
  labels: number;
  members: number;
  parents: number;
  refused: { line: number; text: string }[];
  warnings: ImportWarning[];
  /** The issues of the batch that wait for their parents. */
  waiting: WaitingChild[];
}

/**
 * Writes issues of a source with everything that belongs to them, and sets all parents that are known, in one transaction.
 * Locks in the order of docs/architecture.md, "The order of locks".
 */
export async function importBatch(
  trx: Trx,
  target: ImportTarget,
  rows: readonly ImportRow[],
  earlier: EarlierLines,
): Promise<BatchOutcome> {
  await lockWorkspaceDirectory(trx);
  const batch = new Batch(trx, target, rows, earlier);
  await batch.run();
  return batch.outcome;
}

class Batch {
  readonly outcome: BatchOutcome = {
    created: 0,
    updated: 0,
    unchanged: 0,
    deletedHere: 0,
    comments: 0,
    labels: 0,
    members: 0,
    parents: 0,
    refused: [],
    warnings: [],
    waiting: [],
  };
  readonly #trx: Trx;
  readonly #target: ImportTarget;
  readonly #rows: readonly ImportRow[];
  readonly #earlier: EarlierLines;
  /** What earlier imports have stored about issues of the batch, their parents and their waiting children, by the id in the source. */
  #known = new Map<string, ImportedBefore>();
  #newIssues: PreparedIssue[] = [];
  /** Issues that were imported before, and have changed in the source since. */
  #changed: PreparedIssue[] = [];
  /** The ids here of known and new issues, by the id in the source. */
  readonly #ids = new Map<string, string>();
  #locked = new Map<string, Row<'issue'>>();

  constructor(trx: Trx, target: ImportTarget, rows: readonly ImportRow[], earlier: EarlierLines) {
    this.#trx = trx;
    this.#target = target;
    this.#rows = rows;
    this.#earlier = earlier;
  }

  async run(): Promise<void> {
    await this.#findKnown();
    const people = await this.#prepare();
    const relations = this.#parentRelations();
    const forest = await this.#lock(relations);
    const formerParents = this.#changed.flatMap(({ id }) => forest.parentOf(id) ?? []);
    const parents = this.#decideParents(relations, forest);
    const { warnings } = this.outcome;
    const inserted = await insertNewIssues(
      this.#trx,
      this.#target,
      people,
      this.#newIssues,
      parents,
      warnings,
    );
    const changed = { prepared: this.#changed, locked: this.#locked };
    const updated = await updateChanged(this.#trx, this.#target, people, changed, parents, warnings);
    await this.#attach(parents);
    const changedIds = this.#changed.map(({ id }) => id);
    const recounted = new Set([...formerParents, ...parents.notDeleted.values(), ...changedIds]);
    await recountIssues(
      this.#trx,
      [...recounted].filter((id) => this.#locked.has(id)),
    );
    this.outcome.created = this.#newIssues.length;
    this.outcome.comments = inserted + updated;
  }

  /** Sets the parents of issues that the batch does not write otherwise. */
  async #attach(parents: BatchParents): Promise<void> {
    const written = new Set([...this.#newIssues, ...this.#changed].map(({ id }) => id));
    const older = (parentsOf: ReadonlyMap<string, string>) =>
      [...parentsOf].filter(([childId]) => !written.has(childId));
    const children = [
      ...older(parents.notDeleted).map(([id, parentId]) => ({
        issue: { id },
        set: { parentIssueId: parentId, deletedParentIssueId: null },
        event: parentChangeEvent(),
      })),
      ...older(parents.deleted).map(([id, parentId]) => ({
        issue: { id },
        set: { parentIssueId: null, deletedParentIssueId: parentId },
        event: parentChangeEvent(),
      })),
    ];
    await setParents(this.#trx, children, { eventType: 'issue.updated.v1', origin: changeOrigin.import });
  }

  async #findKnown(): Promise<void> {
    const ids = new Set<string>();
    for (const { issue } of this.#rows) {
      ids.add(issue.sourceId);
      if (issue.parentSourceId !== undefined) ids.add(issue.parentSourceId);
      for (const child of this.#earlier.waiting.get(issue.sourceId) ?? []) ids.add(child.sourceId);
    }
    this.#known = await this.#target.ledger.find(this.#trx, 'issue', [...ids]);
    for (const [sourceId, { targetId }] of this.#known) this.#ids.set(sourceId, targetId);
  }

  /** Finds or creates the rows to which the written issues refer. */
  async #prepare(): Promise<People> {
    const differing = this.#rows.filter(({ issue }) => {
      const known = this.#known.get(issue.sourceId);
      // An issue that was imported before is not deleted here when it is deleted in the source.
      return known?.record.digest !== issue.fingerprint && !(known && issue.deletedUtc);
    });
    const written = differing.filter(({ issue }) => !this.#known.get(issue.sourceId)?.record.purged);
    const deletedHere = await this.#countDeletedHere(new Set(differing));
    this.outcome.unchanged = this.#rows.length - differing.length - deletedHere;
    this.outcome.deletedHere = differing.length - written.length + deletedHere;
    const references = new ImportReferences(this.#target);
    if (written.length > 0)
      await references.load(
        this.#trx,
        written.map(({ issue }) => issue),
      );
    const accepted = written.flatMap((row) => {
      const found = references.of(row.issue);
      if (!('refused' in found)) return [{ ...row, references: found }];
      this.outcome.refused.push({ line: row.line, text: found.refused });
      return [];
    });
    this.outcome.labels = await references.makeLabels(this.#trx);
    const people = await findPeople(
      this.#trx,
      this.#target,
      accepted.map(({ issue }) => issue),
    );
    this.outcome.members = people.created;
    for (const row of accepted) {
      const known = this.#known.get(row.issue.sourceId);
      const { sourceId, createdUtc } = row.issue;
      const id = known?.targetId ?? this.#target.newId({ kind: 'issue', key: sourceId, createdUtc });
      const warnings = [...row.references.warnings];
      const assignees = assigneesOf(row.issue, people, warnings);
      const stages = stagesOf(row.issue, row.references);
      const prepared = { ...row, id, assignees, stages, stored: known?.record ?? {} };
      for (const text of warnings) this.outcome.warnings.push({ line: row.line, text });
      this.#ids.set(row.issue.sourceId, id);
      (known ? this.#changed : this.#newIssues).push(prepared);
    }
    return people;
  }

  /** How many of the issues that have not changed in the source were deleted here. */
  async #countDeletedHere(differing: ReadonlySet<ImportRow>): Promise<number> {
    const ids = this.#rows.flatMap((row) => {
      const known =
        differing.has(row) || row.issue.deletedUtc ? undefined : this.#known.get(row.issue.sourceId);
      return known?.targetId ?? [];
    });
    const notDeleted = await selectIssuesNotDeleted(this.#trx, ids);
    return ids.length - notDeleted.size;
  }

  /** The parents to set: those of the written issues, and those of earlier issues whose parent is in this batch. */
  #parentRelations(): ParentRelation[] {
    const newIds = new Set(this.#newIssues.map(({ id }) => id));
    const relations: ParentRelation[] = [];
    const refused = new Set(this.outcome.refused.map(({ line }) => line));
    for (const row of this.#rows) {
      const { sourceId, parentSourceId } = row.issue;
      const childId = this.#ids.get(sourceId);
      if (childId === undefined || refused.has(row.line)) continue;
      for (const child of newIds.has(childId) ? (this.#earlier.waiting.get(sourceId) ?? []) : []) {
        const id = this.#ids.get(child.sourceId);
        if (id !== undefined) relations.push({ child, childId: id, parentId: childId });
      }
      if (parentSourceId === undefined) continue;
      const parentId = this.#ids.get(parentSourceId);
      const child = { line: row.line, sourceId, parentSourceId };
      if (parentId === undefined) this.outcome.waiting.push(child);
      else relations.push({ child, childId, parentId });
    }
    // If an unchanged issue and its parent were imported before, a member may have moved the issue since.
    const written = new Set([...newIds, ...this.#changed.map(({ id }) => id)]);
    return relations.filter(({ childId, parentId }) => written.has(childId) || newIds.has(parentId));
  }

  /**
   * Locks the parents and all existing issues that may change. Issues that were deleted here stay deleted. Members' changes of parents
   * wait from here on, and not for the look-ups before.
   */
  async #lock(relations: readonly ParentRelation[]): Promise<IssueForest> {
    await lockParents(this.#trx, 'exclusive');
    const newIds = new Set(this.#newIssues.map(({ id }) => id));
    const involved = relations.flatMap(({ childId, parentId }) => [childId, parentId]);
    const existing = [...involved, ...this.#changed.map(({ id }) => id)].filter((id) => !newIds.has(id));
    const forest = await IssueForest.above(this.#trx, existing);
    const formerParents = this.#changed.flatMap(({ id }) => forest.parentOf(id) ?? []);
    const ids = new Set([...existing, ...formerParents]);
    if (ids.size > 0) this.#locked = (await lockIssues(this.#trx, ids)).issues;
    const notDeleted = this.#changed.filter(({ id }) => this.#locked.get(id)?.deletedUtc === null);
    this.outcome.deletedHere += this.#changed.length - notDeleted.length;
    this.outcome.updated = notDeleted.length;
    this.#changed = notDeleted;
    return forest;
  }

  /** Decides which parents are set. A parent that was deleted here, or that would make a cycle, is not. */
  #decideParents(relations: readonly ParentRelation[], forest: IssueForest): BatchParents {
    const notDeleted = new Map<string, string>();
    const deleted = new Map<string, string>();
    const written = new Map([...this.#newIssues, ...this.#changed].map(({ id, issue }) => [id, issue]));
    for (const { id } of this.#changed) forest.detach(id);
    for (const {
      child: { line, sourceId, parentSourceId },
      childId,
      parentId,
    } of relations) {
      const [child, parent] = [this.#locked.get(childId), this.#locked.get(parentId)];
      const isMovable =
        child?.parentIssueId === null && (child.deletedUtc === null || this.#isDeleted(sourceId));
      if (!written.has(childId) && !isMovable) continue;
      const text = `it is left without its parent ${parentSourceId}`;
      const isNotDeleted = parent
        ? parent.deletedUtc === null
        : written.has(parentId) && !written.get(parentId)?.deletedUtc;
      // A deleted parent that was purged no longer has a row to refer to.
      if (!isNotDeleted && this.#isDeleted(parentSourceId) && (parent ?? written.has(parentId)))
        deleted.set(childId, parentId);
      else if (!isNotDeleted) this.outcome.warnings.push({ line, text: `${text}, which was deleted here` });
      else if (forest.attach({ childId, parentId })) notDeleted.set(childId, parentId);
      else this.outcome.warnings.push({ line, text: `${text}: that would close a circle` });
    }
    this.outcome.parents = notDeleted.size + deleted.size;
    const isDeletedChild = (id: string) => written.get(id)?.deletedUtc ?? this.#locked.get(id)?.deletedUtc;
    const deletedChildren = new Set([...notDeleted.keys()].filter(isDeletedChild));
    return { notDeleted, deleted, deletedChildren };
  }

  /** Whether the issue is deleted in the source. */
  #isDeleted(sourceId: string): boolean {
    return this.#earlier.deleted.has(sourceId);
  }
}

/** A child and its parent in the source, with their ids here. */
interface ParentRelation {
  child: WaitingChild;
  childId: string;
  parentId: string;
}
