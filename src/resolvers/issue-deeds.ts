import { codeTables } from '../model/codes.ts';
import type { IssueChange } from './issue-input.ts';
import type { References } from './issues/issue-references.ts';

const listFormat = new Intl.ListFormat('en-GB');

/** What a change did, in words that follow a name: "changed the title, the status to Done and the labels". */
export function deedOf(change: IssueChange, references: References): string {
  const parts = [
    change.title !== undefined && 'the title',
    change.description !== undefined && 'the description',
    change.statusId !== undefined && `the status to ${references.name('status', change.statusId)}`,
    change.priority !== undefined && `the priority to ${priorityName(change.priority)}`,
    change.primaryAssignee !== undefined && `the assignee to ${named('member', change.primaryAssignee)}`,
    change.assignees !== undefined && 'the assignees',
    change.projectId !== undefined && `the project to ${named('project', change.projectId)}`,
    change.deliveryId !== undefined && `the delivery to ${named('delivery', change.deliveryId)}`,
    change.estimateValue !== undefined && `the estimate to ${change.estimateValue ?? 'none'}`,
    change.dueDate !== undefined && `the due date to ${change.dueDate ?? 'none'}`,
    change.labelIds !== undefined && 'the labels',
    change.parentIssueId !== undefined && 'the parent issue',
    change.roleAssignments !== undefined && 'the role assignments',
  ].filter((part) => part !== false);
  return `changed ${listFormat.format(parts)}`;

  function named(kind: 'member' | 'project' | 'delivery', id: string | null): string {
    return id === null ? 'none' : references.name(kind, id);
  }
}

function priorityName(code: number): string {
  const [name] = Object.entries(codeTables.priority).find(([, value]) => value === code) ?? [];
  return name ?? 'none';
}
