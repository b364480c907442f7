import { anyOf, between, equals } from './comparators.ts';
import { namesOf } from './enums.ts';
import type { IssueFilter, IssueStatusFilter, StatusCategory } from './operations.generated.ts';
import { many, type ParameterValues } from './params.ts';
import { priorityNameOrCode } from './priorities.ts';
import { teamFilters } from './team-filters.ts';
import { boolean, date, dateTime, id, keyOf, oneOf, text } from './values.ts';

/** The parameters that filter issues. */
export const issueFilters = {
  ...teamFilters('Issues'),
  status_id: many(id('status', 'Issues in this status.')),
  status_category: many(
    oneOf(namesOf<StatusCategory>('StatusCategory'), 'Issues in a status of this category.'),
  ),
  include_completed: boolean('Whether issues in a terminal status are listed too; true by default.'),
  priority: many(priorityNameOrCode('Issues with this priority, by name or number.')),
  project_key: keyOf('project', 'Issues of the project with this key, in upper or lower case.'),
  project_id: many(id('project', 'Issues of this project.')),
  delivery_id: many(id('delivery', 'Issues in this delivery.')),
  label_id: many(id('label', 'Issues with this label.')),
  parent_issue_id: many(id('issue', 'Sub-issues of this issue.')),
  reporter_user_account_id: many(id('user', 'Issues that this account reported.')),
  primary_assignee_user_account_id: many(id('user', 'Issues with this account as the primary assignee.')),
  assignee_user_account_id: many(
    id('user', 'Issues with this account among the assignees, including the primary one.'),
  ),
  query: text('Issues whose title contains this text, ignoring case and accents.'),
  created_from_utc: dateTime('Issues created at this time or later.'),
  created_to_utc: dateTime('Issues created at this time or earlier.'),
  updated_from_utc: dateTime('Issues last updated at this time or later.'),
  updated_to_utc: dateTime('Issues last updated at this time or earlier.'),
  closed_from_utc: dateTime('Issues closed at this time or later.'),
  closed_to_utc: dateTime('Issues closed at this time or earlier.'),
  due_from: date('Issues due on this day or later.'),
  due_to: date('Issues due on this day or earlier.'),
};

/** The filter of the graph for these parameters. */
export function issueFilter(p: ParameterValues<typeof issueFilters>): IssueFilter {
  return {
    team: p.team_code === undefined ? undefined : { code: equals(p.team_code) },
    teamId: anyOf(p.team_id),
    statusId: anyOf(p.status_id),
    status: statusFilter(p.status_category, p.include_completed),
    priority: anyOf(p.priority),
    project: p.project_key === undefined ? undefined : { key: equals(p.project_key) },
    projectId: anyOf(p.project_id),
    deliveryId: anyOf(p.delivery_id),
    labels: p.label_id && { some: { id: anyOf(p.label_id) } },
    parentIssueId: anyOf(p.parent_issue_id),
    reporterUserAccountId: anyOf(p.reporter_user_account_id),
    primaryAssigneeUserAccountId: anyOf(p.primary_assignee_user_account_id),
    assignees: p.assignee_user_account_id && {
      some: { userAccountId: anyOf(p.assignee_user_account_id) },
    },
    title: p.query ? { contains: p.query } : undefined,
    createdUtc: between(p.created_from_utc, p.created_to_utc),
    updatedUtc: between(p.updated_from_utc, p.updated_to_utc),
    closedUtc: between(p.closed_from_utc, p.closed_to_utc),
    dueDate: between(p.due_from, p.due_to),
  };
}

/** Undefined if the parameters allow every status, because comparing the status of each issue takes time. */
function statusFilter(
  categories: StatusCategory[] | undefined,
  includeCompleted: boolean | undefined,
): IssueStatusFilter | undefined {
  if (!categories && includeCompleted !== false) return undefined;
  return {
    category: anyOf(categories),
    isTerminal: includeCompleted === false ? { eq: false } : undefined,
  };
}
