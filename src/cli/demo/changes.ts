import { priority as priorityCode } from '../../model/codes.ts';
import type { IssueRecord } from './issue-record.ts';
import type { DemoDelivery, DemoLabel, DemoMember, DemoStatus } from './world.ts';

/** A change of an issue and how the feed tells of it. */
export interface Change {
  readonly phrase: string;
  readonly apply: (atMs: number) => void;
}

type MaybeChange = Change | undefined;

/** Entering a terminal status closes; going from one to another keeps the time, leaving takes it away. */
export function toStatus(record: IssueRecord, status: DemoStatus): MaybeChange {
  if (record.status === status) return undefined;
  return {
    phrase: `changed the status from ${record.status.name} to ${status.name}`,
    apply: (atMs) => {
      if (!status.isTerminal) record.closedMs = undefined;
      else if (!record.status.isTerminal) record.closedMs = atMs;
      record.status = status;
    },
  };
}

export function toPriority(record: IssueRecord, name: keyof typeof priorityCode): MaybeChange {
  const code = priorityCode[name];
  if (record.priority === code) return undefined;
  const before = Object.entries(priorityCode).find(([, code]) => code === record.priority)?.[0];
  return {
    phrase: `changed the priority from ${capitalized(before ?? '')} to ${capitalized(name)}`,
    apply: () => {
      record.priority = code;
    },
  };
}

/** Makes somebody the primary assignee, in place of the former one. */
export function toAssignee(record: IssueRecord, member: DemoMember): MaybeChange {
  const [former] = record.assignees;
  if (former === member) return undefined;
  const from = former ? `reassigned it from ${former.displayName}` : 'assigned it';
  return {
    phrase: `${from} to ${member.displayName}`,
    apply: () => {
      record.assignees = [
        member,
        ...record.assignees.filter((other) => other !== former && other !== member),
      ];
      record.subscribers.add(member);
    },
  };
}

export function withoutAssignees(record: IssueRecord): MaybeChange {
  if (record.assignees.length === 0) return undefined;
  return {
    phrase: `unassigned ${record.assignees.map((member) => member.displayName).join(' and ')}`,
    apply: () => {
      record.assignees = [];
    },
  };
}

export function withAlso(record: IssueRecord, member: DemoMember): MaybeChange {
  if (record.assignees.length === 0 || record.assignees.includes(member)) return undefined;
  return {
    phrase: `added ${member.displayName} as an assignee`,
    apply: () => {
      record.assignees.push(member);
      record.subscribers.add(member);
    },
  };
}

export function toDelivery(record: IssueRecord, delivery: DemoDelivery | undefined): MaybeChange {
  const former = record.delivery;
  if (former === delivery) return undefined;
  return {
    phrase: movePhrase(former?.name, delivery?.name),
    apply: () => {
      record.delivery = delivery;
    },
  };
}

export function withoutProject(record: IssueRecord): MaybeChange {
  const former = record.project;
  if (!former) return undefined;
  return {
    phrase: `took it out of ${former.name}`,
    apply: () => {
      record.project = undefined;
    },
  };
}

export function toEstimate(record: IssueRecord, estimate: number): MaybeChange {
  const former = record.estimate;
  if (former === estimate) return undefined;
  return {
    phrase:
      former === undefined
        ? `set the estimate to ${estimate}`
        : `changed the estimate from ${former} to ${estimate}`,
    apply: () => {
      record.estimate = estimate;
    },
  };
}

export function toDueDate(record: IssueRecord, dueDate: string): MaybeChange {
  const former = record.dueDate;
  if (former === dueDate) return undefined;
  return {
    phrase: former ? `moved the due date from ${former} to ${dueDate}` : `set the due date to ${dueDate}`,
    apply: () => {
      record.dueDate = dueDate;
    },
  };
}

/** Of a group an issue has at most one label. */
export function withLabel(record: IssueRecord, label: DemoLabel | undefined): MaybeChange {
  if (!label || [...record.labels].some((other) => isRival(other, label))) return undefined;
  return {
    phrase: `added the label ${label.name}`,
    apply: () => record.labels.add(label),
  };
}

export function withoutLabel(record: IssueRecord, label: DemoLabel): MaybeChange {
  if (!record.labels.has(label)) return undefined;
  return {
    phrase: `removed the label ${label.name}`,
    apply: () => record.labels.delete(label),
  };
}

export function withRole(record: IssueRecord, role: string, member: DemoMember): MaybeChange {
  if (record.roles.some((other) => other.role === role)) return undefined;
  return {
    phrase: `made ${member.displayName} ${role}`,
    apply: () => record.roles.push({ role, member }),
  };
}

export function toTitle(record: IssueRecord, title: string): MaybeChange {
  if (record.title === title) return undefined;
  return {
    phrase: `changed the title from “${record.title}” to “${title}”`,
    apply: () => {
      record.title = title;
    },
  };
}

function isRival(one: DemoLabel, other: DemoLabel): boolean {
  return one === other || (one.groupId !== null && one.groupId === other.groupId);
}

function movePhrase(from: string | undefined, to: string | undefined): string {
  if (!from) return `put it into ${to}`;
  return to ? `moved it from ${from} to ${to}` : `took it out of ${from}`;
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
