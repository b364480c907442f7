import { principalKind, priority, statusCategory } from '../../model/codes.ts';
import type { ImportedComment, ImportedPerson, LineContent } from '../../portability/import/import-issue.ts';
import { dayOf, isRecord, type JsonRecord, recordsOf, textOf, timeOf, wordOf } from './records.ts';

/** Stands for whoever a beads file does not name. */
export const beadsAnonymous: ImportedPerson = { name: 'beads', principalKind: principalKind.service };

/**
 * What a line of beads' issues.jsonl is to us; docs/importing.md has it as a table. Besides issues, beads writes what its
 * agents remember (`_type` memory) and one line that describes the file (`_schema`).
 */
export function beadsContent(record: JsonRecord): LineContent {
  const type = record._type ?? 'issue';
  if (type === 'memory' || (record._schema !== undefined && record.id === undefined))
    return { kind: 'other' };
  if (type !== 'issue')
    return { kind: 'refused', reason: `it is of the type ${JSON.stringify(type)}, not an issue` };
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
      createdUtc: timeOf(record.created_at),
      updatedUtc: timeOf(record.updated_at),
      closedUtc: status === statusCategory.completed ? closedUtc : undefined,
      comments: recordsOf(record.comments).map(commentOf),
      links: [],
      roleAssignments: undefined,
      subscribers: undefined,
      relations,
      fields: Object.fromEntries(Object.entries(record).filter((field) => isKept(field))),
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

/** Statuses that ours say again; of the others the word is kept. */
const plainStatuses: ReadonlySet<unknown> = new Set([
  'open',
  'in_progress',
  'deferred',
  'closed',
  '',
  undefined,
]);

function isKept([name, value]: [string, unknown]): boolean {
  return name === 'status' ? !plainStatuses.has(value) : !mapped.has(name);
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

/** Beads leaves the status out where it is open. */
function statusOf(value: unknown, warnings: string[]): number {
  const word = value === undefined || value === '' ? 'open' : value;
  const category = typeof word === 'string' && Object.hasOwn(statuses, word) ? statuses[word] : undefined;
  if (category === undefined)
    warnings.push(`the status ${JSON.stringify(value)} is not known here: it is open`);
  return category ?? statusCategory.open;
}

const priorities = [priority.urgent, priority.high, priority.medium, priority.low, priority.none] as const;

function priorityOf(value: unknown, warnings: string[]): number {
  const found = typeof value === 'number' ? priorities[value] : undefined;
  if (found === undefined && value !== undefined) {
    warnings.push(`the priority ${JSON.stringify(value)} is not known here: it has none`);
  }
  return found ?? priority.none;
}

function personOf(value: unknown): ImportedPerson | undefined {
  const name = wordOf(value);
  if (name === undefined) return undefined;
  return isAddress(name) ? { name, emailAddress: name } : { name };
}

/** Somebody at a host, which has a dot in the middle. */
function isAddress(text: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(text) && text.slice(text.indexOf('@') + 2, -1).includes('.');
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
 * The parent among the relations of an issue, and the others. Where several are called parent, it is the one whose id
 * the issue's own continues (`bd-7.2` is a part of `bd-7`), else the first.
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
