import type { IssueChange } from './issue-input.ts';

/** Who works on an issue: `all` begins with the primary one, if there is one. */
export interface Assignees {
  primary: string | null;
  all: string[];
}

/**
 * The assignees of an issue after a change. A new primary assignee takes the place of the former; clearing takes him
 * out. A list alone keeps the primary assignee who is still in it, else its first becomes so.
 */
export function assigneesAfter(change: IssueChange, before: Assignees): Assignees {
  const { primaryAssigneeUserAccountId: primaryAssignee, assigneeUserAccountIds: assignees } = change;
  if (primaryAssignee === undefined && assignees === undefined) return before;
  const others = assignees ?? before.all.filter((id) => id !== before.primary);
  if (primaryAssignee !== undefined) return withPrimary(primaryAssignee, others);
  const kept = before.primary !== null && others.includes(before.primary);
  return withPrimary(kept ? before.primary : (others[0] ?? null), others);
}

/** The rows of assignees: the place 0 is the primary one's and stays empty without one. */
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
