import { selectImported } from '../../db/imports.ts';
import {
  insertRows,
  updateImportedComment,
  updateImportedIssue,
  upsertImportSources,
} from '../../db/writes/import-writes.ts';
import {
  insertSubscriptions,
  replaceAssignees,
  replaceLabels,
  replaceRoleAssignments,
} from '../../db/reads/issue-sets.ts';
import { insertLink } from '../../db/links.ts';
import type { Row } from '../../db/tables/tables.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import type { CleanComment } from './import-clean.ts';
import type { ImportTarget, People } from './import-people.ts';
import {
  assigneeRowsOf,
  commentKey,
  commentRows,
  commentSource,
  issueColumns,
  issueSource,
  linkRows,
  type PreparedIssue,
  roleRows,
  subscriptionRows,
} from './import-rows.ts';
import type { CountedIssue } from '../../resolvers/issues/issue-counts.ts';

interface Changed {
  prepared: readonly PreparedIssue[];
  /** Their rows, locked. */
  locked: ReadonlyMap<string, Row<'issue'>>;
}

/**
 * Brings issues that were imported before to what their source says now. What a source knows nothing of stays, and
 * so do comments and links that it no longer has.
 */
export async function updateChanged(
  trx: Trx,
  target: ImportTarget,
  people: People,
  changed: Changed,
  parents: ReadonlyMap<string, string>,
): Promise<{ before: CountedIssue[]; after: CountedIssue[]; comments: number }> {
  const { workspaceId } = target;
  const written: { before: CountedIssue[]; after: CountedIssue[]; comments: number } = {
    before: [],
    after: [],
    comments: 0,
  };
  for (const prepared of changed.prepared) {
    const before = changed.locked.get(prepared.id);
    if (!before) continue;
    const after = { ...issueColumns(prepared, people), ...optionalColumns(prepared, before) };
    const parentIssueId = parents.get(prepared.id) ?? null;
    await updateImportedIssue(trx, workspaceId, prepared.id, {
      ...after,
      parentIssueId,
      deletedParentIssueId: null,
    });
    await replaceSets(trx, workspaceId, prepared, people);
    written.comments += await writeComments(trx, target, prepared, people);
    for (const link of linkRows(workspaceId, prepared, people)) await insertLink(trx, link);
    written.before.push(before);
    written.after.push(after);
  }
  await upsertImportSources(
    trx,
    changed.prepared.map((prepared) => issueSource(target, prepared)),
  );
  return written;
}

/** Columns that not every source knows of. */
function optionalColumns({ issue, references }: PreparedIssue, before: Row<'issue'>) {
  return {
    projectId: issue.projectKey === undefined ? before.projectId : references.projectId,
    deliveryId: issue.deliveryNumber === undefined ? before.deliveryId : references.deliveryId,
    estimateValue: issue.estimateValue === undefined ? before.estimateValue : issue.estimateValue,
    dueDate: issue.dueDate === undefined ? before.dueDate : issue.dueDate,
  };
}

async function replaceSets(
  trx: Trx,
  workspaceId: string,
  prepared: PreparedIssue,
  people: People,
): Promise<void> {
  const { id, issue, references } = prepared;
  await replaceLabels(trx, workspaceId, [id], references.labelIds);
  await replaceAssignees(trx, workspaceId, [id], assigneeRowsOf(workspaceId, prepared));
  await insertSubscriptions(trx, subscriptionRows(workspaceId, prepared, people));
  if (issue.roleAssignments)
    await replaceRoleAssignments(trx, workspaceId, [id], roleRows(workspaceId, prepared, people));
}

/** Adds the comments that are new and changes those that differ; answers with the number of new ones. */
async function writeComments(
  trx: Trx,
  target: ImportTarget,
  prepared: PreparedIssue,
  people: People,
): Promise<number> {
  const { workspaceId, source } = target;
  const { issue } = prepared;
  const keys = issue.comments.map(({ sourceId }) => commentKey(issue, sourceId));
  const imported = await selectImported(trx, workspaceId, source, 'comment', keys);
  const before = (comment: CleanComment) => imported.get(commentKey(issue, comment.sourceId));
  const known = new Map(
    issue.comments.flatMap((comment) => {
      const earlier = before(comment);
      return earlier ? [[comment.sourceId, earlier.targetId] as const] : [];
    }),
  );
  const { rows, ids } = commentRows(workspaceId, prepared, people, known);
  await insertRows(trx, 'comment', rows);
  const written = issue.comments.filter((comment) => before(comment)?.digest !== comment.digest);
  for (const { sourceId, body, updatedUtc } of written) {
    const id = known.get(sourceId);
    if (id) await updateImportedComment(trx, workspaceId, id, { body, isEdited: true, updatedUtc });
  }
  await upsertImportSources(
    trx,
    written.map((comment) => commentSource(target, issue, comment, ids.get(comment.sourceId) ?? '')),
  );
  return rows.length;
}
