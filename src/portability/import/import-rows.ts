import { createHash } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { ImportSourceTable } from '../../db/tables/directory-tables.ts';
import type { CommentTable, IssueLinkTable, IssueTable } from '../../db/tables/issue-tables.ts';
import type { Row } from '../../db/tables/tables.ts';
import { fold } from '../../model/fold.ts';
import { newUuid } from '../../resolvers/ids.ts';
import type { CleanComment, CleanIssue } from './import-clean.ts';
import type { ImportTarget, People } from './import-people.ts';
import type { IssueReferences } from './import-references.ts';
import { assigneeRows, type Assignees } from '../../resolvers/issues/issue-assignees.ts';
import { isTerminal } from '../../resolvers/issues/issue-counts.ts';
import { limits } from '../../resolvers/writes/write-rules.ts';

/** One issue of a batch, with everything looked up that its rows need. */
export interface PreparedIssue {
  readonly line: number;
  readonly issue: CleanIssue;
  readonly id: string;
  readonly references: IssueReferences;
  readonly assignees: Assignees;
}

/** The columns that the source decides, in a new row and in an old one. */
export function issueColumns({ issue, references, assignees }: PreparedIssue, people: People) {
  const { status } = references;
  return {
    title: issue.title,
    titleFold: fold(issue.title),
    description: issue.description,
    reporterUserAccountId: people.account(issue.reporter),
    statusId: status.id,
    statusRank: status.rank,
    priority: issue.priority,
    primaryAssigneeUserAccountId: assignees.primary,
    createdUtc: issue.createdUtc,
    updatedUtc: issue.updatedUtc,
    closedUtc: isTerminal(status.rank) ? (issue.closedUtc ?? null) : null,
  };
}

/** The row of a new issue; what it counts is in it from the start. */
export function newIssueRow(
  workspaceId: string,
  prepared: PreparedIssue,
  people: People,
  place: { number: number; parentIssueId: string | null; subIssueCount: number },
): Insertable<IssueTable> & Pick<Row<'issue'>, 'projectId' | 'deliveryId' | 'estimateValue' | 'statusRank'> {
  const { issue, references, id } = prepared;
  return {
    ...issueColumns(prepared, people),
    ...place,
    workspaceId,
    id,
    teamId: references.teamId,
    deletedParentIssueId: null,
    projectId: references.projectId,
    deliveryId: references.deliveryId,
    estimateValue: issue.estimateValue ?? null,
    dueDate: issue.dueDate ?? null,
    // As triggers would write them, each of which would change the row once more.
    labelIds: references.labelIds.toSorted(),
    assigneeUserAccountIds: prepared.assignees.all,
    commentCount: issue.comments.length,
    linkCount: issue.links.length,
    lastActivityUtc: null,
    lastCommentUtc: newest(issue.comments),
    deletedUtc: null,
  };
}

/** Who works on the issue; who may not be assigned is left out. */
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

/** The rows of who follows a new issue: as the source says, else reporter, assignees and commenters. */
export function subscriptionRows(
  workspaceId: string,
  { issue, id, assignees }: PreparedIssue,
  people: People,
) {
  const usual = [
    people.account(issue.reporter),
    ...assignees.all,
    ...issue.comments.map(({ author }) => people.account(author)),
  ];
  const accounts = issue.subscribers?.map((person) => people.account(person)) ?? usual;
  return [...new Set(accounts)].map((userAccountId) => ({ workspaceId, issueId: id, userAccountId }));
}

export function labelRows(workspaceId: string, { id, references }: PreparedIssue) {
  return references.labelIds.map((labelId) => ({ workspaceId, issueId: id, labelId }));
}

export function assigneeRowsOf(workspaceId: string, { id, assignees }: PreparedIssue) {
  return assigneeRows(workspaceId, id, assignees);
}

/** The rows of who plays which part, each pair once. */
export function roleRows(workspaceId: string, { issue, id }: PreparedIssue, people: People) {
  const pairs = (issue.roleAssignments ?? []).map(({ role, person }) => ({
    role,
    userAccountId: people.account(person),
  }));
  const once = new Map(pairs.map((pair) => [`${pair.userAccountId} ${pair.role}`, pair]));
  return [...once.values()].map((pair) => ({ workspaceId, issueId: id, ...pair }));
}

/** The rows of comments that are new to us; `known` are those that were imported before. */
export function commentRows(
  workspaceId: string,
  { issue, id: issueId }: PreparedIssue,
  people: People,
  known: ReadonlyMap<string, string>,
): { rows: (Insertable<CommentTable> & { id: string })[]; ids: Map<string, string> } {
  const ids = new Map(known);
  const authors = new Map(
    issue.comments.map((comment) => [comment.sourceId, people.account(comment.author)]),
  );
  const rows = issue.comments.flatMap((comment) => {
    if (known.has(comment.sourceId)) return [];
    const id = nextId();
    ids.set(comment.sourceId, id);
    const { parentSourceId } = comment;
    const parentCommentId = parentSourceId === undefined ? null : (ids.get(parentSourceId) ?? null);
    return [
      {
        workspaceId,
        id,
        issueId,
        parentCommentId,
        parentAuthorUserAccountId: (parentCommentId && authors.get(parentSourceId ?? '')) ?? null,
        authorUserAccountId: people.account(comment.author),
        body: comment.body,
        isEdited: comment.isEdited,
        createdUtc: comment.createdUtc,
        updatedUtc: comment.updatedUtc,
        deletedUtc: null,
      },
    ];
  });
  return { rows, ids };
}

export function linkRows(
  workspaceId: string,
  { issue, id: issueId }: PreparedIssue,
  people: People,
): Insertable<IssueLinkTable>[] {
  return issue.links.map(({ url, urlHash, title, createdUtc, createdBy }) => ({
    workspaceId,
    id: nextId(),
    issueId,
    url,
    urlHash,
    title,
    createdUtc,
    createdByUserAccountId: people.account(createdBy),
    deletedUtc: null,
  }));
}

/** What is kept of where an issue came from. */
export function issueSource(
  target: ImportTarget,
  { issue, id }: PreparedIssue,
): Insertable<ImportSourceTable> {
  const { workspaceId, source } = target;
  const { digest, relations, fields } = issue;
  const record = JSON.stringify({ digest, relations, fields });
  return { workspaceId, source, kind: 'issue', sourceId: issue.sourceId, targetId: id, record };
}

/** What is kept of where a comment came from. */
export function commentSource(
  target: ImportTarget,
  issue: CleanIssue,
  { sourceId, digest }: CleanComment,
  targetId: string,
): Insertable<ImportSourceTable> {
  const { workspaceId, source } = target;
  const record = JSON.stringify({ digest });
  return { workspaceId, source, kind: 'comment', sourceId: commentKey(issue, sourceId), targetId, record };
}

/** A comment's id among those of the whole source: sources number them within the issue, some with long texts. */
export function commentKey({ sourceId }: CleanIssue, commentId: string): string {
  const key = `${sourceId}/${commentId}`;
  return key.length <= 500
    ? key
    : `${sourceId}/${createHash('sha256').update(commentId).digest('base64url')}`;
}

let lastIdMs = 0;

/** An id later than all that were given before: things of the same time keep the order of the file. */
export function nextId(): string {
  lastIdMs = Math.max(lastIdMs + 1, Date.now());
  return newUuid(lastIdMs);
}

function newest(comments: readonly CleanComment[]): Date | null {
  return comments.reduce<Date | null>(
    (last, { createdUtc }) => (last && last > createdUtc ? last : createdUtc),
    null,
  );
}
