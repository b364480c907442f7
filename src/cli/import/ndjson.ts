import { z } from 'zod';
import { codeTables, statusCategory } from '../../model/codes.ts';
import { type FieldOf, fieldsAs, type PlainKind } from '../../model/issue-fields.ts';
import type {
  ImportedComment,
  ImportedIssue,
  ImportedLink,
  LineContent,
} from '../../portability/import/import-issue.ts';
import { CommandError } from '../failures.ts';
import type { Line } from './lines.ts';
import { activityOf, attachmentOf, stageOf, threadOf } from './ndjson-history.ts';
import { people, personOf } from './ndjson-people.ts';
import {
  creationOf,
  dayOf,
  isRecord,
  type JsonRecord,
  parseRecord,
  recordsOf,
  textOf,
  timeOf,
  wordOf,
} from './records.ts';

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

/** Reads the header, the first line of an export; throws a `CommandError` if there is none. */
export async function readHeader(lines: AsyncGenerator<Line>): Promise<NdjsonHeader> {
  let next = await lines.next();
  while (!next.done && next.value.text?.trim() === '') next = await lines.next();
  const parsed = next.done ? undefined : parseRecord(next.value);
  const found = header.safeParse(parsed && 'record' in parsed ? parsed.record : undefined);
  if (!found.success)
    throw new CommandError('The file is not an export of workgraph: its first line is not a header.');
  const { version } = found.data;
  if (version > ndjsonVersion) {
    throw new CommandError(
      `The file has version ${version} of the format; this program can read up to version ${ndjsonVersion}.`,
    );
  }
  return found.data;
}

/** Converts a line of an export. */
export function ndjsonContent(record: JsonRecord): LineContent {
  if (record._type !== 'issue')
    return { kind: 'refused', reason: `its type is ${JSON.stringify(record._type)}, not issue` };
  const key = wordOf(record.key);
  if (key === undefined) return { kind: 'refused', reason: 'it has no key' };
  const warnings: string[] = [];
  return { kind: 'issue', warnings, issue: issueOf(record, key, warnings) };
}

function issueOf(record: JsonRecord, key: string, warnings: string[]): ImportedIssue {
  const delivery = record.delivery;
  return {
    sourceId: key,
    teamCode: wordOf(record.team) ?? key.slice(0, key.lastIndexOf('-')),
    ...plainFields(record, warnings),
    status: statusOf(record.status),
    reporter: personOf(record.reporter),
    primaryAssignee: personOf(record.primaryAssignee),
    assignees: people(record.assignees),
    labels: wordsOf(record.labels),
    workspaceLabels: wordsOf(record.workspaceLabels),
    parentSourceId: wordOf(record.parent),
    projectKey: wordOf(record.project) ?? null,
    deliveryNumber:
      typeof delivery === 'number' && Number.isInteger(delivery) && Math.abs(delivery) < 2 ** 31
        ? delivery
        : null,
    createdUtc: creationOf(record.createdUtc, warnings),
    updatedUtc: timeOf(record.updatedUtc),
    closedUtc: timeOf(record.closedUtc),
    comments: recordsOf(record.comments).map(commentOf),
    links: recordsOf(record.links).map(linkOf),
    roleAssignments: recordsOf(record.roleAssignments).flatMap(({ role, member }) => {
      const person = personOf(member);
      return person ? [{ role: textOf(role) ?? '', person }] : [];
    }),
    subscribers: Array.isArray(record.subscribers) ? people(record.subscribers) : undefined,
    deletedUtc: timeOf(record.deletedUtc),
    activity: listOf(record.activity)?.map(activityOf),
    attachments: listOf(record.attachments)?.map(attachmentOf),
    stages: listOf(record.stages)?.map(stageOf),
    agentThread: isRecord(record.agentThread) ? threadOf(record.agentThread) : undefined,
    relations: [],
    fields: Object.fromEntries(Object.entries(record).filter(([name]) => !known.has(name))),
  };
}

type PlainFields = Pick<ImportedIssue, FieldOf<PlainKind>>;

/** Reads the value of each plain field. A missing or invalid value becomes the field's empty value. */
const readers = fieldsAs<PlainKind, (value: unknown, warnings: string[]) => string | number | null>({
  text:
    (_name, { cleared }) =>
    (value) =>
      textOf(value) ?? ('to' in cleared ? cleared.to : ''),
  integer:
    (_name, { cleared }) =>
    (value) =>
      typeof value === 'number' ? value : cleared.to,
  code:
    (_name, { table, cleared, activity }) =>
    (value, warnings) => {
      const found = Object.entries(codeTables[table]).find(([word]) => word === value)?.[1];
      if (found === undefined && value != null)
        warnings.push(`${activity} ${JSON.stringify(value)} is unknown; the issue gets none`);
      return found ?? cleared.to;
    },
  date:
    (_name, { cleared }) =>
    (value) =>
      dayOf(value) ?? cleared.to,
});

function plainFields(record: JsonRecord, warnings: string[]): PlainFields {
  const read = Object.entries(readers).map(([name, reader]) => [name, reader(record[name], warnings)]);
  // Each reader returns a value of its field's kind, which the compiler cannot see.
  return Object.fromEntries(read) as PlainFields;
}

const known: ReadonlySet<string> = new Set([
  ...Object.keys(readers),
  ...`_type id key team status reporter primaryAssignee assignees labels workspaceLabels parent project delivery createdUtc updatedUtc
   closedUtc comments links roleAssignments subscribers deletedUtc activity attachments agentThread stages`.split(
    /\s+/,
  ),
]);

function statusOf(value: unknown): ImportedIssue['status'] {
  const { name, category } = isRecord(value) ? value : { name: value, category: undefined };
  const code = Object.entries(statusCategory).find(([word]) => word === category)?.[1];
  return { name: wordOf(name), category: code ?? statusCategory.open };
}

function commentOf(comment: JsonRecord, index: number): ImportedComment {
  return {
    sourceId: wordOf(comment.id) ?? `#${index + 1}`,
    author: personOf(comment.author),
    body: textOf(comment.body) ?? '',
    createdUtc: timeOf(comment.createdUtc),
    updatedUtc: timeOf(comment.updatedUtc),
    isEdited: comment.isEdited === true,
    parentSourceId: wordOf(comment.parentCommentId),
    deletedUtc: timeOf(comment.deletedUtc),
  };
}

function linkOf(link: JsonRecord): ImportedLink {
  return {
    url: textOf(link.url) ?? '',
    title: textOf(link.title) ?? '',
    createdUtc: timeOf(link.createdUtc),
    createdBy: personOf(link.createdBy),
    deletedUtc: timeOf(link.deletedUtc),
  };
}

/** The words in a list. */
function wordsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.flatMap((word) => wordOf(word) ?? []) : [];
}

/** The objects in a list; undefined if the value is not a list. */
function listOf(value: unknown): JsonRecord[] | undefined {
  return Array.isArray(value) ? recordsOf(value) : undefined;
}
