import { z } from 'zod';
import { isJsonObject } from '../../model/json.ts';
import { codeTables, statusCategory } from '../../model/codes.ts';
import { maxInt32 } from '../../model/int32.ts';
import { type FieldOf, mapFieldsByKind, type PlainKind } from '../../model/issue-fields.ts';
import type {
  ImportedComment,
  ImportedIssue,
  ImportedLink,
  ImportedPerson,
  LineContent,
} from '../../portability/import/import-issue.ts';
import { CommandError } from '../failures.ts';
import type { Line } from './lines.ts';
import { activityOf, attachmentOf, stageOf, threadOf } from './ndjson-history.ts';
import { personParser } from './ndjson-people.ts';
import { ReadWarnings } from './read-warnings.ts';
import { RecordReader } from './record-reader.ts';
import { type JsonRecord, parseRecord, trimmedTextOf } from './records.ts';

/** The version of the format that this program writes and reads. */
export const ndjsonVersion = 1;

const header = z.object({
  _type: z.literal('header'),
  format: z.literal('workgraph'),
  version: z.int(),
  workspace: z.object({ id: z.string(), name: z.string() }),
  /** The time that counts as now for the times in a demo (`npx workgraph seed`). */
  referenceUtc: z.iso.datetime().optional(),
  /** The directory data that the issues refer to, in the form of a directory file. */
  directory: z.record(z.string(), z.unknown()).default({}),
});
export type NdjsonHeader = z.infer<typeof header>;

/** The directory of a large workspace is in the header. */
const maxHeaderValues = 1_000_000;

/** Reads the header, the first line of an export; throws a `CommandError` if there is none. */
export async function readHeader(lines: AsyncGenerator<Line>): Promise<NdjsonHeader> {
  let next = await lines.next();
  while (!next.done && next.value.text?.trim() === '') next = await lines.next();
  const parsed = next.done ? undefined : parseRecord(next.value, maxHeaderValues);
  const validated = header.safeParse(parsed && 'record' in parsed ? parsed.record : undefined);
  if (!validated.success) {
    const isHeader = parsed && 'record' in parsed && parsed.record._type === 'header';
    const [issue] = validated.error.issues;
    const refusal = parsed && 'refused' in parsed ? `: ${parsed.refused}` : '';
    const problem = isHeader && issue ? `: ${issue.path.join('.')}: ${issue.message}` : refusal;
    throw new CommandError(
      `The file is not an export of workgraph: its first line is not a header${problem}.`,
    );
  }
  const { version } = validated.data;
  if (version > ndjsonVersion) {
    throw new CommandError(
      `The file has version ${version} of the format; this program can read up to version ${ndjsonVersion}.`,
    );
  }
  return validated.data;
}

/** Converts a line of an export. */
export function ndjsonContent(record: JsonRecord): LineContent {
  if (record._type !== 'issue')
    return { kind: 'refused', reason: `its type is ${JSON.stringify(record._type)}, not issue` };
  const key = trimmedTextOf(record.key);
  if (key === undefined) return { kind: 'refused', reason: 'it has no key' };
  const warnings = new ReadWarnings();
  const issue = issueOf(record, key, warnings);
  return { kind: 'issue', issue, warnings: warnings.texts };
}

function issueOf(record: JsonRecord, key: string, warnings: ReadWarnings): ImportedIssue {
  const reader = new RecordReader(record, warnings);
  return {
    sourceId: key,
    teamCode: reader.trimmedText('team') ?? (key.slice(0, Math.max(0, key.lastIndexOf('-'))) || undefined),
    ...plainFields(reader),
    status: statusOf(record.status, reader),
    reporter: reader.person('reporter', personParser),
    primaryAssignee: reader.person('primaryAssignee', personParser),
    assignees: reader.people('assignees', personParser) ?? [],
    labels: reader.trimmedTexts('labels') ?? [],
    workspaceLabels: reader.trimmedTexts('workspaceLabels') ?? [],
    parentSourceId: reader.trimmedText('parent'),
    projectKey: reader.trimmedText('project') ?? null,
    deliveryNumber: reader.read('delivery', 'the number of a delivery', deliveryOf) ?? null,
    createdUtc: reader.time('createdUtc'),
    updatedUtc: reader.time('updatedUtc'),
    closedUtc: reader.time('closedUtc'),
    comments: reader.objects('comments', commentOf) ?? [],
    links: reader.objects('links', linkOf) ?? [],
    roleAssignments: reader.objects('roleAssignments', roleOf)?.flatMap((role) => role ?? []) ?? [],
    subscribers: reader.people('subscribers', personParser),
    deletedUtc: reader.time('deletedUtc'),
    activity: reader.objects('activity', activityOf),
    attachments: reader.objects('attachments', attachmentOf),
    stages: reader.objects('stages', stageOf),
    agentThread: reader.object('agentThread', threadOf),
    relations: [],
    fields: Object.fromEntries(Object.entries(record).filter(([name]) => !mappedFields.has(name))),
  };
}

type PlainFields = Pick<ImportedIssue, FieldOf<PlainKind>>;

/** Reads each plain field. A missing or invalid value becomes the field's empty value. */
const readers = mapFieldsByKind<PlainKind, (reader: RecordReader) => string | number | null>({
  text:
    (name, { cleared }) =>
    (reader) =>
      reader.text(name) ?? ('to' in cleared ? cleared.to : ''),
  integer:
    (name, { cleared }) =>
    (reader) =>
      reader.read(name, 'a number', (value) => (typeof value === 'number' ? value : undefined)) ?? cleared.to,
  code:
    (name, { table, cleared }) =>
    (reader) =>
      reader.code(name, codeTables[table]) ?? cleared.to,
  date:
    (name, { cleared }) =>
    (reader) =>
      reader.day(name) ?? cleared.to,
});

function plainFields(reader: RecordReader): PlainFields {
  const read = Object.entries(readers).map(([name, value]) => [name, value(reader)]);
  // Each reader returns a value of its field's kind, which the compiler cannot see.
  return Object.fromEntries(read) as PlainFields;
}

const mappedFields: ReadonlySet<string> = new Set([
  ...Object.keys(readers),
  ...`_type id key team status reporter primaryAssignee assignees labels workspaceLabels parent project delivery createdUtc updatedUtc
   closedUtc comments links roleAssignments subscribers deletedUtc activity attachments agentThread stages`.split(
    /\s+/,
  ),
]);

function statusOf(value: unknown, reader: RecordReader): ImportedIssue['status'] {
  const ofObject = (status: RecordReader) => ({
    name: status.trimmedText('name'),
    category: status.code('category', statusCategory),
  });
  const status = isJsonObject(value) ? reader.object('status', ofObject) : undefined;
  return status ?? { name: reader.trimmedText('status'), category: undefined };
}

function deliveryOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= maxInt32
    ? value
    : undefined;
}

function commentOf(comment: RecordReader, index: number): ImportedComment {
  return {
    sourceId: comment.trimmedText('id') ?? `#${index + 1}`,
    author: comment.person('author', personParser),
    body: comment.text('body') ?? '',
    createdUtc: comment.time('createdUtc'),
    updatedUtc: comment.time('updatedUtc'),
    isEdited: comment.isTrue('isEdited'),
    parentSourceId: comment.trimmedText('parentCommentId'),
    deletedUtc: comment.time('deletedUtc'),
  };
}

function linkOf(link: RecordReader): ImportedLink {
  return {
    url: link.text('url') ?? '',
    title: link.text('title') ?? '',
    createdUtc: link.time('createdUtc'),
    createdBy: link.person('createdBy', personParser),
    deletedUtc: link.time('deletedUtc'),
  };
}

function roleOf(assignment: RecordReader): { role: string; person: ImportedPerson } | undefined {
  const person = assignment.person('member', personParser);
  return person && { role: assignment.text('role') ?? '', person };
}
