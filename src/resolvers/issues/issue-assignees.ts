import type { IssueChange } from './issue-input.ts';

/** The assignees of an issue: `all` begins with the primary assignee, if there is one. */
export interface Assignees {
  primary: string | null;
  all: string[];
}

/**
 * The assignees of an issue after a change. A new primary assignee replaces the former one; clearing removes the former
 * one. A list without a primary assignee keeps the present one if it contains that member; otherwise the first of the
 * list becomes the primary assignee.
 */
export function assigneesAfter(change: IssueChange, before: Assignees): Assignees {
  const { primaryAssigneeUserAccountId: primaryAssignee, assigneeUserAccountIds: assignees } = change;
  if (primaryAssignee === undefined && assignees === undefined) return before;
  const others = assignees ?? before.all.filter((id) => id !== before.primary);
  if (primaryAssignee !== undefined) return withPrimary(primaryAssignee, others);
  const isUnchanged = before.primary !== null && others.includes(before.primary);
  return withPrimary(isUnchanged ? before.primary : (others[0] ?? null), others);
}

/** The rows of assignees. Position 0 is reserved for the primary assignee. */
export function assigneeRows(issueId: string, { primary, all }: Assignees) {
  const first = primary === null ? 1 : 0;
  return all.map((userAccountId, index) => ({
    issueId,
    userAccountId,
    position: index + first,
  }));
}

function withPrimary(primary: string | null, others: readonly string[]): Assignees {
  return {
    primary,
    all: primary === null ? [...others] : [primary, ...others.filter((id) => id !== primary)],
  };
}
