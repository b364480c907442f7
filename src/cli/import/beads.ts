import { isJsonObject } from '../../model/json.ts';
import { principalKind, priority, statusCategory } from '../../model/codes.ts';
import { isEmailAddress } from '../../model/email-address.ts';
import type {
  ImportedComment,
  ImportedIssue,
  ImportedPerson,
  LineContent,
} from '../../portability/import/import-issue.ts';
import { ReadWarnings } from './read-warnings.ts';
import { type PersonParser, RecordReader, quoted } from './record-reader.ts';
import { type JsonRecord, trimmedTextOf } from './records.ts';

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
  const sourceId = trimmedTextOf(record.id);
  if (sourceId === undefined) return { kind: 'refused', reason: 'it has no id' };
  if (record.status === 'tombstone') return { kind: 'tombstone', sourceId };
  if (trimmedTextOf(record.title) === undefined) return { kind: 'refused', reason: 'it has no title' };
  const warnings = new ReadWarnings();
  const reader = new RecordReader(record, warnings);
  const { parentSourceId, relations } = dependenciesOf(sourceId, reader);
  const status = statusOf(record.status, warnings);
  const updatedUtc = reader.time('updated_at');
  const closedUtc = reader.time('closed_at') ?? updatedUtc;
  const issue: ImportedIssue = {
    sourceId,
    title: reader.text('title') ?? '',
    description: reader.text('description') ?? '',
    status: { category: status },
    priority: priorityOf(record.priority, warnings),
    reporter: reader.person('created_by', personParser),
    primaryAssignee: reader.person('assignee', personParser),
    assignees: [],
    labels: reader.trimmedTexts('labels') ?? [],
    parentSourceId,
    dueDate: reader.has('due_at') ? (reader.day('due_at') ?? null) : undefined,
    createdUtc: reader.creationTime('created_at'),
    updatedUtc,
    closedUtc: status === statusCategory.completed ? closedUtc : undefined,
    comments: reader.objects('comments', commentOf) ?? [],
    links: [],
    roleAssignments: undefined,
    subscribers: undefined,
    relations,
    fields: Object.fromEntries(Object.entries(record).filter((field) => isUnmapped(field))),
  };
  return { kind: 'issue', issue, warnings: warnings.texts };
}

const mappedFields: ReadonlySet<string> = new Set([
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
  return name === 'status' ? !mappedStatuses.has(value) : !mappedFields.has(name);
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
function statusOf(value: unknown, warnings: ReadWarnings): number {
  const word = value === undefined || value === '' ? 'open' : value;
  const category = typeof word === 'string' && Object.hasOwn(statuses, word) ? statuses[word] : undefined;
  if (category === undefined)
    warnings.add('status', () => `the status ${quoted(value)} is unknown; the issue becomes open`);
  return category ?? statusCategory.open;
}

const priorities = [priority.urgent, priority.high, priority.medium, priority.low, priority.none] as const;

function priorityOf(value: unknown, warnings: ReadWarnings): number {
  const code = typeof value === 'number' ? priorities[value] : undefined;
  if (code === undefined && value !== undefined) {
    warnings.add('priority', () => `the priority ${quoted(value)} is unknown; the issue gets none`);
  }
  return code ?? priority.none;
}

const personParser: PersonParser = {
  ofText: (name) => {
    // Beads also names actors after machines (`agent@laptop`), so the host of an address must have a dot.
    const hasDot = name.slice(name.indexOf('@') + 2, -1).includes('.');
    return isEmailAddress(name) && hasDot ? { name, emailAddress: name } : { name };
  },
};

function commentOf(comment: RecordReader, index: number): ImportedComment {
  return {
    sourceId: comment.read('id', 'a text or a number', idOf) ?? `#${index + 1}`,
    author: comment.person('author', personParser),
    body: comment.text('text') ?? '',
    createdUtc: comment.time('created_at'),
  };
}

function idOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/**
 * Separates the parent from the other relations of an issue. Of several parents, it chooses the one whose id is the
 * beginning of the issue's id (`bd-7.2` is a sub-issue of `bd-7`), otherwise the first.
 */
function dependenciesOf(
  id: string,
  reader: RecordReader,
): { parentSourceId: string | undefined; relations: unknown[] } {
  const all = reader.items('dependencies', 'a relation', (each) => each) ?? [];
  const parents = all.filter((each) => isParent(each, id));
  const parent = parents.find((each) => id.startsWith(`${String(each.depends_on_id)}.`)) ?? parents[0];
  return {
    parentSourceId: parent && trimmedTextOf(parent.depends_on_id),
    relations: all.filter((each) => each !== parent),
  };
}

function isParent(relation: unknown, id: string): relation is JsonRecord {
  if (!isJsonObject(relation) || trimmedTextOf(relation.depends_on_id) === undefined) return false;
  if (relation.issue_id !== undefined && relation.issue_id !== id) return false;
  return relation.type === 'parent-child' || relation.type === 'parent';
}
