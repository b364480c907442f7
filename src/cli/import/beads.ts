import { principalKind, priority, statusCategory } from '../../model/codes.ts';
import { isEmailAddress } from '../../model/email-address.ts';
import type { ImportedComment, ImportedPerson, LineContent } from '../../portability/import/import-issue.ts';
import {
  creationOf,
  dayOf,
  isRecord,
  type JsonRecord,
  recordsOf,
  textOf,
  timeOf,
  wordOf,
} from './records.ts';

/** The person to use where a beads file names none. */
export const beadsAnonymous: ImportedPerson = { name: 'beads', principalKind: principalKind.service };

/**
 * Converts a line of beads' issues.jsonl; docs/importing.md has the mapping as a table. Besides issues, the file can
 * have the memories of agents (`_type` memory) and one line that describes the file (`_schema`).
 */
export function beadsContent(record: JsonRecord): LineContent {
  const type = record._type ?? 'issue';
  if (type === 'memory' || (record._schema !== undefined && record.id === undefined))
    return { kind: 'other' };
  if (type !== 'issue') return { kind: 'refused', reason: `its type is ${JSON.stringify(type)}, not issue` };
  const sourceId = wordOf(record.id);
  if (sourceId === undefined) return { kind: 'refused', reason: 'it has no id' };
  if (record.status === 'tombstone') return { kind: 'tombstone', sourceId };
  if (wordOf(record.title) === undefined) return { kind: 'refused', reason: 'it has no title' };
  const warnings: string[] = [];
  const { parentSourceId, relations } = dependenciesOf(sourceId, record.dependencies);
  const status = statusOf(record.status, warnings);
  const closedUtc = timeOf(record.closed_at) ?? timeOf(record.updated_at);
  return {
    kind: 'issue',
    warnings,
    issue: {
      sourceId,
      title: textOf(record.title) ?? '',
      description: textOf(record.description) ?? '',
      status: { category: status },
      priority: priorityOf(record.priority, warnings),
      reporter: personOf(record.created_by),
      primaryAssignee: personOf(record.assignee),
      assignees: [],
      labels: Array.isArray(record.labels) ? record.labels.flatMap((label) => wordOf(label) ?? []) : [],
      parentSourceId,
      dueDate: record.due_at === undefined ? undefined : (dayOf(record.due_at) ?? null),
      createdUtc: creationOf(record.created_at, warnings),
      updatedUtc: timeOf(record.updated_at),
      closedUtc: status === statusCategory.completed ? closedUtc : undefined,
      comments: recordsOf(record.comments).map(commentOf),
      links: [],
      roleAssignments: undefined,
      subscribers: undefined,
      relations,
      fields: Object.fromEntries(Object.entries(record).filter((field) => isUnmapped(field))),
    },
  };
}

const mapped: ReadonlySet<string> = new Set([
  '_type',
  'id',
  'title',
  'description',
  'priority',
  'created_by',
  'assignee',
  'labels',
  'dependencies',
  'due_at',
  'created_at',
  'updated_at',
  'closed_at',
  'comments',
]);

/** Statuses that one of ours fully expresses. The name of any other status is stored with the source record. */
const mappedStatuses: ReadonlySet<unknown> = new Set([
  'open',
  'in_progress',
  'deferred',
  'closed',
  '',
  undefined,
]);

function isUnmapped([name, value]: [string, unknown]): boolean {
  return name === 'status' ? !mappedStatuses.has(value) : !mapped.has(name);
}

const statuses: Readonly<Record<string, number>> = {
  open: statusCategory.open,
  blocked: statusCategory.open,
  pinned: statusCategory.open,
  in_progress: statusCategory.active,
  hooked: statusCategory.active,
  deferred: statusCategory.backlog,
  closed: statusCategory.completed,
};

/** Beads omits the status `open`. */
function statusOf(value: unknown, warnings: string[]): number {
  const word = value === undefined || value === '' ? 'open' : value;
  const category = typeof word === 'string' && Object.hasOwn(statuses, word) ? statuses[word] : undefined;
  if (category === undefined)
    warnings.push(`the status ${JSON.stringify(value)} is unknown; the issue becomes open`);
  return category ?? statusCategory.open;
}

const priorities = [priority.urgent, priority.high, priority.medium, priority.low, priority.none] as const;

function priorityOf(value: unknown, warnings: string[]): number {
  const found = typeof value === 'number' ? priorities[value] : undefined;
  if (found === undefined && value !== undefined) {
    warnings.push(`the priority ${JSON.stringify(value)} is unknown; the issue gets none`);
  }
  return found ?? priority.none;
}

function personOf(value: unknown): ImportedPerson | undefined {
  const name = wordOf(value);
  if (name === undefined) return undefined;
  // Beads also names actors after machines (`agent@laptop`), so the host of an address must have a dot.
  const hasDot = name.slice(name.indexOf('@') + 2, -1).includes('.');
  return isEmailAddress(name) && hasDot ? { name, emailAddress: name } : { name };
}

function commentOf(comment: JsonRecord, index: number): ImportedComment {
  const id = comment.id;
  return {
    sourceId: typeof id === 'string' || typeof id === 'number' ? String(id) : `#${index + 1}`,
    author: personOf(comment.author),
    body: textOf(comment.text) ?? '',
    createdUtc: timeOf(comment.created_at),
  };
}

/**
 * Separates the parent from the other relations of an issue. Of several parents, it chooses the one whose id is the
 * beginning of the issue's id (`bd-7.2` is a sub-issue of `bd-7`), otherwise the first.
 */
function dependenciesOf(
  id: string,
  value: unknown,
): { parentSourceId: string | undefined; relations: unknown[] } {
  const all = Array.isArray(value) ? value : [];
  const parents = all.filter((each) => isParent(each, id));
  const parent = parents.find((each) => id.startsWith(`${String(each.depends_on_id)}.`)) ?? parents[0];
  return {
    parentSourceId: parent && wordOf(parent.depends_on_id),
    relations: all.filter((each) => each !== parent),
  };
}

function isParent(relation: unknown, id: string): relation is JsonRecord {
  if (!isRecord(relation) || wordOf(relation.depends_on_id) === undefined) return false;
  if (relation.issue_id !== undefined && relation.issue_id !== id) return false;
  return relation.type === 'parent-child' || relation.type === 'parent';
}
