import { createHash } from 'node:crypto';
import type { StoredRecord } from '../../db/imports.ts';
import type { Row } from '../../db/tables/tables.ts';
import type { CleanComment, CleanIssue } from './import-clean.ts';
import type { LedgerEntry } from './import-ledger.ts';
import type { ImportTarget, People } from './import-people.ts';
import type { IssueReferences } from './import-references.ts';
import { laterTime } from './import-texts.ts';
import { columnsOfStages, type FoundStage } from './import-stages.ts';
import { assigneeRows, type Assignees } from '../../resolvers/issues/issue-assignees.ts';
import { changedColumns, newColumns } from '../../resolvers/issues/issue-columns.ts';
import { isTerminal } from '../../resolvers/issues/status-rank.ts';
import { limits } from '../../model/limits.ts';
import { newUuid } from '../../resolvers/ids.ts';
import type { NewIssue } from '../../db/writes/issue-creation.ts';
import type { NewRow } from '../../db/tables/tenant-tables.ts';

/** An issue of a batch, with everything that its rows refer to. */
export interface PreparedIssue {
  readonly line: number;
  readonly issue: CleanIssue;
  readonly id: string;
  readonly references: IssueReferences;
  readonly stages: readonly FoundStage[];
  readonly assignees: Assignees;
  /** What earlier imports have stored about it. */
  readonly stored: StoredRecord;
}

/** What an import has added to the history of an issue without entries in its feed, and which attachments need not be added again. */
export interface WrittenHistory {
  readonly attachments: number;
  readonly messages: number;
  /** The keys of the attachments of the source that the issue has now, or has had before. */
  readonly files: readonly string[];
}

/** The columns that an import updates in an existing issue. Columns that the source does not have are not changed. */
export function changedIssueColumns(prepared: PreparedIssue, people: People, before: Row<'issue'>) {
  const { issue, references } = prepared;
  const { status, projectId, deliveryId } = references;
  const values = {
    ...issue,
    statusId: status.id,
    projectId: issue.projectKey === undefined ? undefined : projectId,
    deliveryId: issue.deliveryNumber === undefined ? undefined : deliveryId,
  };
  return {
    ...changedColumns(values, status.rank),
    ...peopleColumns(prepared, people),
    ...changedTimes(prepared, before),
  };
}

/** The times of an existing issue, which keeps those that the source does not have. */
function changedTimes({ issue, references }: PreparedIssue, before: Row<'issue'>) {
  const createdUtc = issue.hasCreationTime ? issue.createdUtc : before.createdUtc;
  const updatedUtc = laterTime(issue.updatedUtc, createdUtc);
  const closedUtc = issue.closedUtc ?? before.closedUtc ?? undefined;
  return timeColumns(
    { createdUtc, updatedUtc, closedUtc: closedUtc && laterTime(closedUtc, createdUtc) },
    references,
  );
}

function peopleColumns({ issue, assignees }: PreparedIssue, people: People) {
  return {
    reporterUserAccountId: people.account(issue.reporter),
    primaryAssigneeUserAccountId: assignees.primary,
  };
}

function timeColumns(
  { createdUtc, updatedUtc, closedUtc }: Pick<CleanIssue, 'createdUtc' | 'updatedUtc' | 'closedUtc'>,
  { status }: IssueReferences,
) {
  return { createdUtc, updatedUtc, closedUtc: isTerminal(status.rank) ? (closedUtc ?? null) : null };
}

/** A new issue with everything that belongs to it, including its counts. */
export function newIssue(
  prepared: PreparedIssue,
  people: People,
  tree: Pick<Row<'issue'>, 'parentIssueId' | 'deletedParentIssueId' | 'subIssueCount'>,
): NewIssue {
  const { issue, references, id } = prepared;
  const { status, projectId, deliveryId } = references;
  const { parentIssueId, ...others } = tree;
  return {
    teamId: references.teamId,
    columns: {
      ...newColumns({ ...issue, statusId: status.id, projectId, deliveryId }, status.rank),
      ...peopleColumns(prepared, people),
      id,
      parentIssueId,
    },
    history: {
      ...timeColumns(issue, references),
      ...columnsOfStages(prepared.stages),
      ...others,
      commentCount: issue.comments.filter(isNotDeleted).length,
      linkCount: issue.links.filter(isNotDeleted).length,
      activityCount: issue.activity?.length ?? 0,
      lastActivityUtc: issue.activity?.at(-1)?.occurredUtc ?? null,
      lastCommentUtc: newest(issue.comments.filter(isNotDeleted)),
      deletedUtc: issue.deletedUtc ?? null,
      // Each update in the feed has increased the revision.
      revision: 1 + updatesIn(issue.activity),
    },
    assignees: assigneeRowsOf(prepared),
    labels: references.labelIds,
    roles: roleRows(prepared, people),
    followers: subscriptionRows(prepared, people).map(({ userAccountId }) => userAccountId),
    event: { id: newUuid(), actor: null },
  };
}

/** The number of entries in a feed that record an update of the issue itself. */
export function updatesIn(activity: readonly { eventType: string }[] | undefined): number {
  return activity?.filter(({ eventType }) => eventType === 'issue.updated.v1').length ?? 0;
}

/** The assignees of an issue. Persons who may not be assigned are skipped with a warning. */
export function assigneesOf(issue: CleanIssue, people: People, warnings: string[]): Assignees {
  const assignable = [issue.primaryAssignee, ...issue.assignees].flatMap((person) => {
    if (!person) return [];
    if (people.isAssignable(person)) return [person];
    warnings.push(`${person.name} is suspended or removed and was not assigned`);
    return [];
  });
  const { primaryAssignee } = issue;
  const primary =
    primaryAssignee && assignable.includes(primaryAssignee) ? people.account(primaryAssignee) : null;
  return {
    primary,
    all: [...new Set(assignable.map((person) => people.account(person)))].slice(0, limits.people),
  };
}

/** The subscriptions to a new issue: those in the source, or else of the reporter, the assignees and the commenters. */
export function subscriptionRows({ issue, id, assignees }: PreparedIssue, people: People) {
  const defaults = [
    people.account(issue.reporter),
    ...assignees.all,
    ...issue.comments.map(({ author }) => people.account(author)),
  ];
  const accounts = issue.subscribers?.map((person) => people.account(person)) ?? defaults;
  return [...new Set(accounts)].map((userAccountId) => ({ issueId: id, userAccountId }));
}

export function assigneeRowsOf({ id, assignees }: PreparedIssue) {
  return assigneeRows(id, assignees);
}

/** The role assignments of an issue, without duplicates. */
export function roleRows({ issue, id }: PreparedIssue, people: People) {
  const pairs = (issue.roleAssignments ?? []).map(({ role, person }) => ({
    role,
    userAccountId: people.account(person),
  }));
  const once = new Map(pairs.map((pair) => [`${pair.userAccountId} ${pair.role}`, pair]));
  return [...once.values()].map((pair) => ({ issueId: id, ...pair }));
}

/** The rows of new comments. `known` has the ids of the comments that were imported before. */
export function commentRows(
  { newId }: ImportTarget,
  { issue, id: issueId }: PreparedIssue,
  people: People,
  known: ReadonlyMap<string, string>,
): { rows: (NewRow<'comment'> & { id: string })[]; ids: Map<string, string> } {
  const ids = new Map(known);
  const authors = new Map(
    issue.comments.map((comment) => [comment.sourceId, people.account(comment.author)]),
  );
  const rows = issue.comments.flatMap((comment, index) => {
    if (known.has(comment.sourceId)) return [];
    const key = commentKey(issue, comment.sourceId);
    const id = newId({ kind: 'comment', key, createdUtc: comment.createdUtc, index });
    ids.set(comment.sourceId, id);
    const { parentSourceId } = comment;
    const parentCommentId = parentSourceId === undefined ? null : (ids.get(parentSourceId) ?? null);
    return [
      {
        id,
        issueId,
        parentCommentId,
        parentAuthorUserAccountId: (parentCommentId && authors.get(parentSourceId ?? '')) ?? null,
        authorUserAccountId: people.account(comment.author),
        body: comment.body,
        isEdited: comment.isEdited,
        createdUtc: comment.createdUtc,
        updatedUtc: comment.updatedUtc,
        deletedUtc: comment.deletedUtc ?? null,
        revision: 1 + Number(comment.isEdited) + Number(comment.deletedUtc !== undefined),
      },
    ];
  });
  return { rows, ids };
}

export function linkRows(
  { newId }: ImportTarget,
  { issue, id: issueId }: PreparedIssue,
  people: People,
): NewRow<'issueLink'>[] {
  return issue.links.map(({ url, urlHash, title, createdUtc, createdBy, deletedUtc = null }, index) => ({
    id: newId({ kind: 'link', key: `${issue.sourceId} ${url}`, createdUtc, index }),
    issueId,
    url,
    urlHash,
    title,
    createdUtc,
    createdByUserAccountId: people.account(createdBy),
    deletedUtc,
  }));
}

/** The ledger entry of an issue, which adds to what earlier imports have stored. Empty parts are omitted. */
export function issueEntry(
  { issue, id, stored }: PreparedIssue,
  written: WrittenHistory & { readonly deletedLinks: number },
): LedgerEntry {
  const { sourceId, fingerprint, relations, fields } = issue;
  const counts = (['attachments', 'messages', 'deletedLinks'] as const).map(
    (name) => [name, (stored.came?.[name] ?? 0) + written[name]] as const,
  );
  const came = Object.fromEntries(counts.filter(([, count]) => count > 0));
  const files = [...new Set([...(stored.files ?? []), ...written.files])];
  const history = {
    ...(Object.keys(came).length > 0 && { came }),
    ...(files.length > 0 && { files }),
  };
  return { sourceId, targetId: id, record: { digest: fingerprint, relations, fields, ...history } };
}

/** The ledger entry of a comment. */
export function commentEntry(
  issue: CleanIssue,
  { sourceId, fingerprint, deletedUtc }: CleanComment,
  targetId: string,
  stored: StoredRecord = {},
): LedgerEntry {
  // A comment that was imported as deleted stays deleted.
  const record = { digest: fingerprint, ...((stored.deleted || deletedUtc) && { deleted: true }) };
  return { sourceId: commentKey(issue, sourceId), targetId, record };
}

/**
 * A key for a comment that is unique in the source, where ids are unique only within the issue. Long ids are hashed.
 */
export function commentKey({ sourceId }: CleanIssue, commentId: string): string {
  const key = `${sourceId}/${commentId}`;
  return key.length <= 500
    ? key
    : `${sourceId}/${createHash('sha256').update(commentId).digest('base64url')}`;
}

export function isNotDeleted({ deletedUtc }: { deletedUtc?: Date | undefined }): boolean {
  return deletedUtc === undefined;
}

function newest(comments: readonly CleanComment[]): Date | null {
  return comments.reduce<Date | null>(
    (last, { createdUtc }) => (last && last > createdUtc ? last : createdUtc),
    null,
  );
}
