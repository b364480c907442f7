import { z } from 'zod';
import { codeTables, priority, statusCategory } from '../../model/codes.ts';
import type {
  ImportedComment,
  ImportedIssue,
  ImportedLink,
  ImportedPerson,
  LineContent,
} from '../../portability/import/import-issue.ts';
import { CommandError } from '../failures.ts';
import type { Line } from './lines.ts';
import {
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
  /** What the issues refer to, as a directory file has it. */
  directory: z.record(z.string(), z.unknown()).default({}),
});
export type NdjsonHeader = z.infer<typeof header>;

/** Takes the header off the lines of an export; throws a sentence for a person when there is none. */
export async function readHeader(lines: AsyncGenerator<Line>): Promise<NdjsonHeader> {
  let next = await lines.next();
  while (!next.done && next.value.text?.trim() === '') next = await lines.next();
  const parsed = next.done ? undefined : parseRecord(next.value);
  const found = header.safeParse(parsed && 'record' in parsed ? parsed.record : undefined);
  if (!found.success)
    throw new CommandError('The file is no export of workgraph: its first line is no header.');
  const { version } = found.data;
  if (version > ndjsonVersion) {
    throw new CommandError(
      `The file is of version ${version} of the format; this program reads ${ndjsonVersion}.`,
    );
  }
  return found.data;
}

/** What a line of an export is. */
export function ndjsonContent(record: JsonRecord): LineContent {
  if (record._type !== 'issue')
    return { kind: 'refused', reason: `it is of the type ${JSON.stringify(record._type)}, not an issue` };
  const key = wordOf(record.key);
  if (key === undefined) return { kind: 'refused', reason: 'it has no key' };
  const warnings: string[] = [];
  return { kind: 'issue', warnings, issue: issueOf(record, key, warnings) };
}

function issueOf(record: JsonRecord, key: string, warnings: string[]): ImportedIssue {
  const delivery = record.delivery;
  const estimate = record.estimateValue;
  return {
    sourceId: key,
    teamCode: wordOf(record.team) ?? key.slice(0, key.lastIndexOf('-')),
    title: textOf(record.title) ?? '',
    description: textOf(record.description) ?? '',
    status: statusOf(record.status),
    priority: priorityOf(record.priority, warnings),
    reporter: personOf(record.reporter),
    primaryAssignee: personOf(record.primaryAssignee),
    assignees: people(record.assignees),
    labels: Array.isArray(record.labels) ? record.labels.flatMap((name) => wordOf(name) ?? []) : [],
    parentSourceId: wordOf(record.parent),
    projectKey: wordOf(record.project) ?? null,
    deliveryNumber:
      typeof delivery === 'number' && Number.isInteger(delivery) && Math.abs(delivery) < 2 ** 31
        ? delivery
        : null,
    estimateValue: typeof estimate === 'number' ? estimate : null,
    dueDate: dayOf(record.dueDate) ?? null,
    createdUtc: timeOf(record.createdUtc),
    updatedUtc: timeOf(record.updatedUtc),
    closedUtc: timeOf(record.closedUtc),
    comments: recordsOf(record.comments).map(commentOf),
    links: recordsOf(record.links).map(linkOf),
    roleAssignments: recordsOf(record.roleAssignments).flatMap(({ role, member }) => {
      const person = personOf(member);
      return person ? [{ role: textOf(role) ?? '', person }] : [];
    }),
    subscribers: Array.isArray(record.subscribers) ? people(record.subscribers) : undefined,
    relations: [],
    fields: Object.fromEntries(Object.entries(record).filter(([name]) => !known.has(name))),
  };
}

const known: ReadonlySet<string> = new Set(
  `_type id key team title description status priority reporter primaryAssignee assignees labels parent project delivery
   estimateValue dueDate createdUtc updatedUtc closedUtc comments links roleAssignments subscribers`.split(
    /\s+/,
  ),
);

function statusOf(value: unknown): ImportedIssue['status'] {
  const { name, category } = isRecord(value) ? value : { name: value, category: undefined };
  const code = Object.entries(statusCategory).find(([word]) => word === category)?.[1];
  return { name: wordOf(name), category: code ?? statusCategory.open };
}

function priorityOf(value: unknown, warnings: string[]): number {
  const found = Object.entries(codeTables.priority).find(([word]) => word === value)?.[1];
  if (found === undefined && value != null)
    warnings.push(`the priority ${JSON.stringify(value)} is not known: it has none`);
  return found ?? priority.none;
}

function people(value: unknown): ImportedPerson[] {
  return Array.isArray(value) ? value.flatMap((each) => personOf(each) ?? []) : [];
}

function personOf(value: unknown): ImportedPerson | undefined {
  if (!isRecord(value)) return undefined;
  const [name, emailAddress] = [wordOf(value.displayName), wordOf(value.emailAddress)];
  const kind = Object.entries(codeTables.principalKind).find(
    ([word, code]) => code > 0 && word === value.principalKind,
  )?.[1];
  if (name === undefined && emailAddress === undefined) return undefined;
  return { name: name ?? emailAddress ?? '', emailAddress, principalKind: kind };
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
  };
}

function linkOf(link: JsonRecord): ImportedLink {
  return {
    url: textOf(link.url) ?? '',
    title: textOf(link.title) ?? '',
    createdUtc: timeOf(link.createdUtc),
    createdBy: personOf(link.createdBy),
  };
}
