import { insertRows, updateImportedComment, updateImportedIssue } from '../../db/writes/import-writes.ts';
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
import { completeHistories, type ImportWarning } from './import-history.ts';
import type { PlacedParents } from './import-parents.ts';
import type { ImportTarget, People } from './import-people.ts';
import {
  assigneeRowsOf,
  changedIssueColumns,
  commentEntry,
  commentKey,
  commentRows,
  issueEntry,
  linkRows,
  type PreparedIssue,
  roleRows,
  subscriptionRows,
  updatesIn,
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
  parents: PlacedParents,
  warnings: ImportWarning[],
): Promise<{ before: CountedIssue[]; after: CountedIssue[]; comments: number }> {
  const written: { before: CountedIssue[]; after: CountedIssue[]; comments: number } = {
    before: [],
    after: [],
    comments: 0,
  };
  const added = await completeHistories(trx, target, people, changed.prepared, warnings);
  for (const prepared of changed.prepared) {
    const before = changed.locked.get(prepared.id);
    if (!before) continue;
    const entries = added.get(prepared.id) ?? [];
    const columns = {
      ...changedIssueColumns(prepared, people),
      parentIssueId: parents.living.get(prepared.id) ?? null,
      deletedParentIssueId: parents.deleted.get(prepared.id) ?? null,
      activityCount: before.activityCount + entries.length,
      lastActivityUtc: entries.at(-1)?.occurredUtc ?? before.lastActivityUtc,
    };
    await updateImportedIssue(trx, prepared.id, columns, updatesIn(entries));
    await replaceSets(trx, prepared, people);
    written.comments += await writeComments(trx, target, prepared, people);
    for (const link of linkRows(target, prepared, people)) {
      if (link.deletedUtc === null) await insertLink(trx, link);
    }
    written.before.push(before);
    written.after.push({ ...before, ...columns });
  }
  await target.ledger.remember(trx, 'issue', changed.prepared.map(issueEntry));
  return written;
}

async function replaceSets(trx: Trx, prepared: PreparedIssue, people: People): Promise<void> {
  const { id, issue, references } = prepared;
  await replaceLabels(trx, [id], references.labelIds);
  await replaceAssignees(trx, [id], assigneeRowsOf(prepared));
  await insertSubscriptions(trx, subscriptionRows(prepared, people));
  if (issue.roleAssignments) await replaceRoleAssignments(trx, [id], roleRows(prepared, people));
}

/** Adds the comments that are new and changes those that differ; answers with the number of new ones. */
async function writeComments(
  trx: Trx,
  target: ImportTarget,
  prepared: PreparedIssue,
  people: People,
): Promise<number> {
  const { issue } = prepared;
  const keys = issue.comments.map(({ sourceId }) => commentKey(issue, sourceId));
  const imported = await target.ledger.find(trx, 'comment', keys);
  const before = (comment: CleanComment) => imported.get(commentKey(issue, comment.sourceId));
  const known = new Map(
    issue.comments.flatMap((comment) => {
      const earlier = before(comment);
      return earlier ? [[comment.sourceId, earlier.targetId] as const] : [];
    }),
  );
  const { rows, ids } = commentRows(target, prepared, people, known);
  await insertRows(trx, 'comment', rows);
  const written = issue.comments.filter((comment) => before(comment)?.digest !== comment.digest);
  for (const { sourceId, body, updatedUtc, deletedUtc = null } of written) {
    const id = known.get(sourceId);
    const columns = { body, isEdited: true, updatedUtc, deletedUtc };
    if (id) await updateImportedComment(trx, id, columns);
  }
  await target.ledger.remember(
    trx,
    'comment',
    written.map((comment) => commentEntry(issue, comment, ids.get(comment.sourceId) ?? '')),
  );
  return rows.length;
}
