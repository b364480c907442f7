import type { Violations } from './errors.ts';
import { checkText, limits, uuidOf, uuidsOf } from './writes/write-rules.ts';

/** The fields of an issue that a client can set. In an update null empties a field and an absent one stays. */
export interface IssueFieldsInput {
  title?: string | null;
  description?: string | null;
  /** A code of `priority`. */
  priority?: number | null;
  statusId?: string | null;
  primaryAssigneeUserAccountId?: string | null;
  assigneeUserAccountIds?: readonly string[] | null;
  projectId?: string | null;
  deliveryId?: string | null;
  estimateValue?: number | null;
  /** A real calendar date, as the scalar makes sure. */
  dueDate?: string | null;
  labelIds?: readonly string[] | null;
  parentIssueId?: string | null;
  roleAssignments?: readonly { role: string; userAccountId: string }[] | null;
}

/** What was asked for, decoded: an undefined field stays, null empties it. References are yet to be looked up. */
export interface IssueChange {
  title?: string;
  description?: string;
  priority?: number;
  statusId?: string;
  primaryAssignee?: string | null;
  assignees?: string[];
  projectId?: string | null;
  deliveryId?: string | null;
  estimateValue?: number | null;
  dueDate?: string | null;
  labelIds?: string[];
  parentIssueId?: string | null;
  roleAssignments?: { role: string; userAccountId: string }[];
}

/** Decodes the fields of an input; what breaks a rule is noted under its name there. */
export function parseIssueFields(input: IssueFieldsInput, violations: Violations): IssueChange {
  const { dueDate, priority } = input;
  return {
    title: required(violations, 'title', input.title, (title) => parseTitle(violations, title)),
    description: parseDescription(violations, input.description),
    priority: priority === null ? 0 : priority,
    statusId: required(violations, 'statusId', input.statusId, (id) =>
      uuidOf(violations, 'statusId', 'status', id),
    ),
    primaryAssignee: optional(input.primaryAssigneeUserAccountId, (id) =>
      uuidOf(violations, 'primaryAssigneeUserAccountId', 'user', id),
    ),
    assignees: list(input.assigneeUserAccountIds, (ids) =>
      uuidsOf(violations, 'assigneeUserAccountIds', 'user', ids, limits.people),
    ),
    projectId: optional(input.projectId, (id) => uuidOf(violations, 'projectId', 'project', id)),
    deliveryId: optional(input.deliveryId, (id) => uuidOf(violations, 'deliveryId', 'delivery', id)),
    estimateValue: parseEstimate(violations, input.estimateValue),
    dueDate,
    labelIds: list(input.labelIds, (ids) => uuidsOf(violations, 'labelIds', 'label', ids, limits.labels)),
    parentIssueId: optional(input.parentIssueId, (id) => uuidOf(violations, 'parentIssueId', 'issue', id)),
    roleAssignments: list(input.roleAssignments, (assignments) =>
      parseRoleAssignments(violations, assignments),
    ),
  };
}

/** Trims a title and notes what is wrong with it. */
export function parseTitle(violations: Violations, title: string): string {
  const trimmed = title.trim();
  checkText(violations, 'title', trimmed, { min: 1, max: limits.title });
  return trimmed;
}

function parseDescription(
  violations: Violations,
  description: string | null | undefined,
): string | undefined {
  if (description == null) return description === null ? '' : undefined;
  checkText(violations, 'description', description, { min: 0, max: limits.description });
  return description;
}

function parseEstimate(violations: Violations, value: number | null | undefined): number | null | undefined {
  if (value != null) violations.that(value >= 0, 'estimateValue', 'must be 0 or more');
  return value;
}

function parseRoleAssignments(
  violations: Violations,
  assignments: readonly { role: string; userAccountId: string }[],
): { role: string; userAccountId: string }[] {
  violations.that(
    assignments.length <= limits.people,
    'roleAssignments',
    `must have at most ${limits.people} items`,
  );
  return assignments.flatMap((assignment, index) => {
    const field = `roleAssignments[${index}]`;
    const role = assignment.role.trim();
    checkText(violations, `${field}.role`, role, { min: 1, max: limits.role });
    const userAccountId = uuidOf(violations, `${field}.userAccountId`, 'user', assignment.userAccountId);
    return userAccountId ? [{ role, userAccountId }] : [];
  });
}

function required<From, To>(
  violations: Violations,
  field: string,
  value: From | null | undefined,
  parse: (value: From) => To | undefined,
): To | undefined {
  if (value === null) violations.add(field, 'cannot be cleared');
  return value == null ? undefined : parse(value);
}

function optional<From, To>(
  value: From | null | undefined,
  parse: (value: From) => To | undefined,
): To | null | undefined {
  if (value === null || value === undefined) return value === null ? null : undefined;
  return parse(value);
}

function list<From, To>(value: From | null | undefined, parse: (value: From) => To[]): To[] | undefined {
  return value == null ? (value === null ? [] : undefined) : parse(value);
}
