import type { TenantDb } from '../../db/tables/tenant-tables.ts';
import {
  type ExportedIssueRow,
  type RelatedRows,
  type LabelRow,
  selectRelatedRows,
  selectIssuesAfter,
  selectMembersByAccount,
} from '../../db/reads/export-reads.ts';
import type { Row } from '../../db/tables/tables.ts';
import { codeTables } from '../../model/codes.ts';
import { mapFieldsByKind, type PlainKind } from '../../model/issue-fields.ts';
import { wordOfCode } from '../directory/code-words.ts';
import { encodeId } from '../../resolvers/ids.ts';
import { issueKey } from '../../resolvers/keys.ts';
import type { ExportFiles } from './export-files.ts';
import { ExportedHistory } from './export-history.ts';

export interface ExportOptions {
  /** Whether deleted issues, comments and links are exported too. */
  readonly deleted?: boolean;
  /** Writes the files of attachments; without it, attachments are omitted. */
  readonly files?: ExportFiles | undefined;
}

/** The number of issues that are in memory at a time. */
const pageSize = 100;

/**
 * Exports the issues of a team in the order of their numbers, each with its comments, links and so on. It reads page by
 * page without a transaction, so writes during the export may or may not be included.
 */
export async function* exportIssues(
  db: TenantDb,
  team: Pick<Row<'team'>, 'id' | 'code'>,
  { deleted = false, files }: ExportOptions = {},
): AsyncGenerator<Record<string, unknown>> {
  let last = 0;
  for (;;) {
    const page = { number: last, limit: pageSize, deleted };
    const issues = await selectIssuesAfter(db, team.id, page);
    if (issues.length === 0) return;
    const ids = issues.map(({ id }) => id);
    const belongings = await selectRelatedRows(db, ids, { deleted });
    const accounts = accountsOf(issues, belongings);
    const members = await selectMembersByAccount(db, [...accounts]);
    const exported = new ExportedPage(team.code, belongings, members, files);
    for (const issue of issues) yield exported.record(issue);
    last = issues.at(-1)?.number ?? last;
  }
}

function accountsOf(issues: readonly ExportedIssueRow[], belongings: RelatedRows): Set<string> {
  const { comments, links, assignees, roles, subscribers, activity, attachments, threads, messages } =
    belongings;
  return new Set([
    ...issues.map(({ reporterUserAccountId }) => reporterUserAccountId),
    ...comments.map(({ authorUserAccountId }) => authorUserAccountId),
    ...links.map(({ createdByUserAccountId }) => createdByUserAccountId),
    ...[...assignees, ...roles, ...subscribers].map(({ userAccountId }) => userAccountId),
    ...activity.map(({ actorUserAccountId }) => actorUserAccountId),
    ...attachments.map(({ uploadedByUserAccountId }) => uploadedByUserAccountId),
    ...threads.map(({ agentUserAccountId }) => agentUserAccountId),
    ...messages.map(({ authorUserAccountId }) => authorUserAccountId),
  ]);
}

/** Converts the plain fields to the values in the file; a code becomes its word. */
const writers = mapFieldsByKind<PlainKind, (issue: ExportedIssueRow) => unknown>({
  text: (name) => (issue) => issue[name],
  integer: (name) => (issue) => issue[name],
  code: (name, { table }) => {
    return (issue) => wordOfCode(codeTables[table], issue[name]);
  },
  date: (name) => (issue) => issue[name],
});

function plainFields(issue: ExportedIssueRow): Record<string, unknown> {
  return Object.fromEntries(Object.entries(writers).map(([name, write]) => [name, write(issue)]));
}

class ExportedPage {
  readonly #teamCode: string;
  readonly #members: ReadonlyMap<string, Row<'member'>>;
  readonly #comments: ReadonlyMap<string, Row<'comment'>[]>;
  readonly #links: ReadonlyMap<string, Row<'issueLink'>[]>;
  readonly #labels: ReadonlyMap<string, LabelRow[]>;
  readonly #assignees: ReadonlyMap<string, Row<'issueAssignee'>[]>;
  readonly #roles: ReadonlyMap<string, Row<'issueRoleAssignment'>[]>;
  readonly #subscribers: ReadonlyMap<string, Row<'issueSubscription'>[]>;
  readonly #history: ExportedHistory;

  constructor(
    teamCode: string,
    belongings: RelatedRows,
    members: readonly Row<'member'>[],
    files: ExportFiles | undefined,
  ) {
    const byIssue = ({ issueId }: { issueId: string }) => issueId;
    this.#teamCode = teamCode;
    this.#members = new Map(members.map((member) => [member.userAccountId, member]));
    this.#comments = Map.groupBy(belongings.comments, byIssue);
    this.#links = Map.groupBy(belongings.links, byIssue);
    this.#labels = Map.groupBy(belongings.labels, byIssue);
    this.#assignees = Map.groupBy(belongings.assignees, byIssue);
    this.#roles = Map.groupBy(belongings.roles, byIssue);
    this.#subscribers = Map.groupBy(belongings.subscribers, byIssue);
    this.#history = new ExportedHistory(belongings, (account) => this.#person(account), files);
  }

  async record(issue: ExportedIssueRow): Promise<Record<string, unknown>> {
    const { id, parentTeamCode, parentNumber, primaryAssigneeUserAccountId: primary } = issue;
    const assignees = (this.#assignees.get(id) ?? []).toSorted(
      (left, right) => left.position - right.position,
    );
    return {
      _type: 'issue',
      id: encodeId('issue', id),
      key: issueKey(this.#teamCode, issue.number),
      team: this.#teamCode,
      ...plainFields(issue),
      status: {
        name: issue.statusName,
        category: wordOfCode(codeTables.statusCategory, issue.statusCategory),
      },
      reporter: this.#person(issue.reporterUserAccountId),
      primaryAssignee: primary === null ? null : this.#person(primary),
      assignees: assignees
        .filter(({ userAccountId }) => userAccountId !== primary)
        .map((row) => this.#person(row.userAccountId)),
      ...this.#labelNames(id),
      parent:
        parentTeamCode === null || parentNumber === null ? null : issueKey(parentTeamCode, parentNumber),
      project: issue.projectKey,
      delivery: issue.deliveryNumber,
      createdUtc: issue.createdUtc,
      updatedUtc: issue.updatedUtc,
      closedUtc: issue.closedUtc,
      ...deletion(issue),
      ...this.#belongings(id),
      ...(await this.#history.of(id)),
    };
  }

  /** The names of the labels. A label of the workspace is listed separately where its name means one of the team. */
  #labelNames(issueId: string): Record<string, string[]> {
    const { labels = [], workspaceLabels = [] } = Object.groupBy(
      this.#labels.get(issueId) ?? [],
      ({ isShadowed }) => (isShadowed ? 'workspaceLabels' : 'labels'),
    );
    const names = (rows: readonly LabelRow[]) => rows.map(({ name }) => name);
    return {
      labels: names(labels),
      ...(workspaceLabels.length > 0 && { workspaceLabels: names(workspaceLabels) }),
    };
  }

  #belongings(issueId: string): Record<string, unknown> {
    const roles = this.#sorted(this.#roles.get(issueId), ({ role }) => role);
    const subscribers = this.#sorted(this.#subscribers.get(issueId), () => '');
    return {
      comments: this.#commentRecords(issueId),
      links: (this.#links.get(issueId) ?? []).map((link) => ({
        url: link.url,
        title: link.title,
        createdUtc: link.createdUtc,
        createdBy: this.#person(link.createdByUserAccountId),
        ...deletion(link),
      })),
      roleAssignments: roles.map(({ role, userAccountId }) => ({
        role,
        member: this.#person(userAccountId),
      })),
      subscribers: subscribers.map(({ userAccountId }) => this.#person(userAccountId)),
    };
  }

  /** The comments, oldest first. A reply to a comment that is not exported has no parent. */
  #commentRecords(issueId: string): Record<string, unknown>[] {
    const comments = this.#comments.get(issueId) ?? [];
    const exported = new Set(comments.map(({ id }) => id));
    return comments.map((comment) => {
      const parent =
        comment.parentCommentId !== null && exported.has(comment.parentCommentId)
          ? comment.parentCommentId
          : null;
      return {
        id: encodeId('comment', comment.id),
        author: this.#person(comment.authorUserAccountId),
        body: comment.body,
        createdUtc: comment.createdUtc,
        updatedUtc: comment.updatedUtc,
        isEdited: comment.isEdited,
        parentCommentId: parent === null ? null : encodeId('comment', parent),
        ...deletion(comment),
      };
    });
  }

  /** Sorts rows by names instead of ids, so that exports of equal workspaces are equal. */
  #sorted<Of extends { userAccountId: string }>(
    rows: readonly Of[] | undefined,
    first: (row: Of) => string,
  ): Of[] {
    const keyOf = (row: Of) => {
      const member = this.#members.get(row.userAccountId);
      return [first(row), member?.displayNameFold ?? '', member?.emailAddressFold ?? ''].join('\0');
    };
    return (rows ?? []).toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
  }

  #person(userAccountId: string): Record<string, unknown> | null {
    const member = this.#members.get(userAccountId);
    if (!member) return null;
    const { displayName, emailAddress, principalKind } = member;
    return {
      displayName,
      ...(emailAddress !== null && { emailAddress }),
      ...(principalKind !== codeTables.principalKind.user && {
        principalKind: wordOfCode(codeTables.principalKind, principalKind),
      }),
    };
  }
}

/** The field `deletedUtc`, or no field if the row is not deleted. */
function deletion({ deletedUtc }: { deletedUtc: Date | null }): { deletedUtc?: Date } {
  return deletedUtc === null ? {} : { deletedUtc };
}
