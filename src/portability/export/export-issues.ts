import type { Database } from '../../db/engine/engine.ts';
import {
  type ExportedIssueRow,
  type IssueBelongings,
  selectBelongings,
  selectIssuesAfter,
  selectMembersByAccount,
} from '../../db/export-reads.ts';
import type { Row } from '../../db/tables/tables.ts';
import { codeTables } from '../../model/codes.ts';
import { wordOfCode } from '../directory/code-words.ts';
import { encodeId } from '../../resolvers/ids.ts';
import { issueKey } from '../../resolvers/keys.ts';

/** Issues read at once: what is in memory of a workspace of any size. */
const pageSize = 100;

/**
 * The living issues of a team by number, each with all that hangs on it but its feed, attachments and agent thread.
 * Reads page by page and holds no transaction: what is written meanwhile may or may not be in it.
 */
export async function* exportIssues(
  { db }: Database,
  workspaceId: string,
  team: Pick<Row<'team'>, 'id' | 'code'>,
): AsyncGenerator<Record<string, unknown>> {
  let last = 0;
  for (;;) {
    const issues = await selectIssuesAfter(db, workspaceId, team.id, last, pageSize);
    if (issues.length === 0) return;
    const ids = issues.map(({ id }) => id);
    const belongings = await selectBelongings(db, workspaceId, ids);
    const accounts = accountsOf(issues, belongings);
    const members = await selectMembersByAccount(db, workspaceId, [...accounts]);
    const page = new ExportedPage(team.code, belongings, members);
    for (const issue of issues) yield page.record(issue);
    last = issues.at(-1)?.number ?? last;
  }
}

function accountsOf(issues: readonly ExportedIssueRow[], belongings: IssueBelongings): Set<string> {
  const { comments, links, assignees, roles, subscribers } = belongings;
  return new Set([
    ...issues.map(({ reporterUserAccountId }) => reporterUserAccountId),
    ...comments.map(({ authorUserAccountId }) => authorUserAccountId),
    ...links.map(({ createdByUserAccountId }) => createdByUserAccountId),
    ...[...assignees, ...roles, ...subscribers].map(({ userAccountId }) => userAccountId),
  ]);
}

class ExportedPage {
  readonly #teamCode: string;
  readonly #members: ReadonlyMap<string, Row<'member'>>;
  readonly #comments: ReadonlyMap<string, Row<'comment'>[]>;
  readonly #links: ReadonlyMap<string, Row<'issueLink'>[]>;
  readonly #labels: ReadonlyMap<string, { name: string }[]>;
  readonly #assignees: ReadonlyMap<string, Row<'issueAssignee'>[]>;
  readonly #roles: ReadonlyMap<string, Row<'issueRoleAssignment'>[]>;
  readonly #subscribers: ReadonlyMap<string, Row<'issueSubscription'>[]>;

  constructor(teamCode: string, belongings: IssueBelongings, members: readonly Row<'member'>[]) {
    const byIssue = ({ issueId }: { issueId: string }) => issueId;
    this.#teamCode = teamCode;
    this.#members = new Map(members.map((member) => [member.userAccountId, member]));
    this.#comments = Map.groupBy(belongings.comments, byIssue);
    this.#links = Map.groupBy(belongings.links, byIssue);
    this.#labels = Map.groupBy(belongings.labels, byIssue);
    this.#assignees = Map.groupBy(belongings.assignees, byIssue);
    this.#roles = Map.groupBy(belongings.roles, byIssue);
    this.#subscribers = Map.groupBy(belongings.subscribers, byIssue);
  }

  record(issue: ExportedIssueRow): Record<string, unknown> {
    const { id, parentTeamCode, parentNumber, primaryAssigneeUserAccountId: primary } = issue;
    const assignees = (this.#assignees.get(id) ?? []).toSorted(
      (left, right) => left.position - right.position,
    );
    return {
      _type: 'issue',
      id: encodeId('issue', id),
      key: issueKey(this.#teamCode, issue.number),
      team: this.#teamCode,
      title: issue.title,
      description: issue.description,
      status: {
        name: issue.statusName,
        category: wordOfCode(codeTables.statusCategory, issue.statusCategory),
      },
      priority: wordOfCode(codeTables.priority, issue.priority),
      reporter: this.#person(issue.reporterUserAccountId),
      primaryAssignee: primary === null ? null : this.#person(primary),
      assignees: assignees
        .filter(({ userAccountId }) => userAccountId !== primary)
        .map((row) => this.#person(row.userAccountId)),
      labels: (this.#labels.get(id) ?? []).map(({ name }) => name),
      parent:
        parentTeamCode === null || parentNumber === null ? null : issueKey(parentTeamCode, parentNumber),
      project: issue.projectKey,
      delivery: issue.deliveryNumber,
      estimateValue: issue.estimateValue,
      dueDate: issue.dueDate,
      createdUtc: issue.createdUtc,
      updatedUtc: issue.updatedUtc,
      closedUtc: issue.closedUtc,
      ...this.#belongings(id),
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
      })),
      roleAssignments: roles.map(({ role, userAccountId }) => ({
        role,
        member: this.#person(userAccountId),
      })),
      subscribers: subscribers.map(({ userAccountId }) => this.#person(userAccountId)),
    };
  }

  /** Comments from the oldest; an answer to a deleted one stands on its own. */
  #commentRecords(issueId: string): Record<string, unknown>[] {
    const comments = this.#comments.get(issueId) ?? [];
    const living = new Set(comments.map(({ id }) => id));
    return comments.map((comment) => {
      const parent =
        comment.parentCommentId !== null && living.has(comment.parentCommentId)
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
      };
    });
  }

  /** In an order that does not hang on ids, so that two exports of the same are equal. */
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
