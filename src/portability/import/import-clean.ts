import { createHash } from 'node:crypto';
import { statusCategory } from '../../model/codes.ts';
import { type FieldOf, mapFieldsByKind, type PlainKind } from '../../model/issue-fields.ts';
import { Violations } from '../../resolvers/errors.ts';
import {
  type CleanActivity,
  type CleanAttachment,
  type CleanThread,
  cleanActivity,
  cleanAttachments,
  cleanThread,
} from './import-clean-history.ts';
import type { ImportedComment, ImportedIssue, ImportedLink } from './import-issue.ts';
import { cleanPerson, cut, firstOf, laterTime } from './import-texts.ts';
import { cleanStages } from './import-stages.ts';
import { parseUrl } from '../../resolvers/link-urls.ts';
import { limits } from '../../model/limits.ts';

/** An issue that fits the tables, with the fingerprint of its source. */
export interface CleanIssue extends ImportedIssue {
  createdUtc: Date;
  /** Whether `createdUtc` is from the source. */
  hasCreationTime: boolean;
  updatedUtc: Date;
  comments: CleanComment[];
  links: CleanLink[];
  activity: CleanActivity[] | undefined;
  attachments: CleanAttachment[] | undefined;
  agentThread: CleanThread | undefined;
  fingerprint: string;
}
export interface CleanComment extends ImportedComment {
  createdUtc: Date;
  updatedUtc: Date;
  isEdited: boolean;
  fingerprint: string;
}
export interface CleanLink extends ImportedLink {
  createdUtc: Date;
  /** The hash of the normalized URL, which is the same for equivalent URLs. */
  urlHash: Buffer;
}

const maxIdLength = 255;
/** Values that are nested deeper would overflow the stack of recursive functions. */
const maxDepth = 64;

/**
 * Truncates, replaces or skips values that the tables cannot store, each with a warning. Refuses an issue without an id
 * or a title. `nowUtc` is the creation time if the source has no times; it is not part of the fingerprint.
 */
export function cleanIssue(
  raw: ImportedIssue,
  nowUtc: Date,
): { issue: CleanIssue; warnings: string[] } | { refused: string } {
  if (depthOf(raw, maxDepth) > maxDepth) return { refused: 'its values are nested too deep' };
  const warnings: string[] = [];
  const changes = new Set<string>();
  const storable = storableValue(raw, changes) as ImportedIssue;
  warnings.push(...changes);
  const { sourceId } = storable;
  if (sourceId === '' || sourceId !== raw.sourceId || Array.from(sourceId).length > maxIdLength) {
    return { refused: `its id is not a text of 1 to ${maxIdLength} characters` };
  }
  const fields = cleanFields(storable, warnings);
  if (fields.title === '') return { refused: 'it has no title' };
  const createdUtc = storable.createdUtc ?? storable.updatedUtc ?? nowUtc;
  const issue: ImportedIssue = {
    ...storable,
    ...fields,
    reporter: storable.reporter && cleanPerson(storable.reporter, warnings),
    primaryAssignee: storable.primaryAssignee && cleanPerson(storable.primaryAssignee, warnings),
    assignees: firstOf(storable.assignees, limits.people, 'assignees', warnings).map((person) =>
      cleanPerson(person, warnings),
    ),
    labels: labels(storable.labels, warnings),
    workspaceLabels: storable.workspaceLabels && labels(storable.workspaceLabels, warnings),
    roleAssignments: storable.roleAssignments && roleAssignments(storable.roleAssignments, warnings),
    subscribers: storable.subscribers?.map((person) => cleanPerson(person, warnings)),
  };
  const comments = cleanComments(storable.comments, createdUtc, warnings);
  const links = cleanLinks(storable.links, createdUtc, warnings);
  const updatedUtc = laterTime(storable.updatedUtc ?? createdUtc, createdUtc);
  const closedUtc = storable.closedUtc && laterTime(storable.closedUtc, createdUtc);
  const deletedUtc = storable.deletedUtc && laterTime(storable.deletedUtc, createdUtc);
  const stages = cleanStages(storable.stages, createdUtc);
  const history = {
    activity: cleanActivity(storable.activity, createdUtc, warnings),
    attachments: cleanAttachments(storable.attachments, createdUtc, warnings),
    agentThread: cleanThread(storable.agentThread, createdUtc, warnings),
  };
  const fingerprint = fingerprintOf(
    ordered({
      ...issue,
      // As it was stored before a source without categories was told from one that says `open`.
      status: { ...issue.status, category: issue.status.category ?? statusCategory.open },
      comments: comments.map((comment) => comment.fingerprint),
    }),
  );
  const hasCreationTime = storable.createdUtc !== undefined;
  const times = { createdUtc, hasCreationTime, updatedUtc, closedUtc, deletedUtc };
  return { issue: { ...issue, ...times, comments, links, ...history, stages, fingerprint }, warnings };
}

function cleanComments(
  raw: readonly ImportedComment[],
  createdUtc: Date,
  warnings: string[],
): CleanComment[] {
  const known = new Set<string>();
  return raw.flatMap((comment, index): CleanComment[] => {
    const label = `comment ${index + 1}`;
    if (comment.body.trim() === '') {
      warnings.push(`${label} is empty and skipped`);
      return [];
    }
    if (known.has(comment.sourceId)) {
      warnings.push('a comment with the id of another comment is skipped');
      return [];
    }
    known.add(comment.sourceId);
    const body = cut(comment.body, limits.comment, label, warnings);
    const { parentSourceId } = comment;
    const hasParent = parentSourceId !== undefined && known.has(parentSourceId);
    if (parentSourceId !== undefined && !hasParent)
      warnings.push(`${label} replies to a comment that does not exist`);
    const source = {
      ...comment,
      body,
      author: comment.author && cleanPerson(comment.author, warnings),
      parentSourceId: hasParent ? parentSourceId : undefined,
    };
    const commentedUtc = comment.createdUtc ?? createdUtc;
    return [
      {
        ...source,
        createdUtc: commentedUtc,
        updatedUtc: laterTime(comment.updatedUtc ?? commentedUtc, commentedUtc),
        isEdited: comment.isEdited ?? false,
        fingerprint: fingerprintOf(source),
      },
    ];
  });
}

function cleanLinks(raw: readonly ImportedLink[], createdUtc: Date, warnings: string[]): CleanLink[] {
  const known = new Set<string>();
  return raw.flatMap((link): CleanLink[] => {
    const violations = new Violations();
    const { url, normalized } = parseUrl(violations, 'url', link.url);
    if (violations.any) {
      warnings.push('a link that is not an http or https URL is skipped');
      return [];
    }
    // The same URL may occur in several deleted links, but only in one link that is not deleted.
    if (!link.deletedUtc && known.has(normalized)) return [];
    if (!link.deletedUtc) known.add(normalized);
    const title = cut(link.title.trim() || url, limits.title, 'the title of a link', warnings);
    const urlHash = createHash('sha256').update(normalized).digest();
    const createdBy = link.createdBy && cleanPerson(link.createdBy, warnings);
    const { deletedUtc } = link;
    return [{ url, urlHash, title, createdBy, createdUtc: link.createdUtc ?? createdUtc, deletedUtc }];
  });
}

function labels(names: readonly string[], warnings: string[]): string[] {
  const cleaned = [
    ...new Set(names.map((name) => cut(name.trim(), limits.name, 'a label', warnings))),
  ].filter((name) => name !== '');
  return firstOf(cleaned, limits.labels, 'labels', warnings);
}

type RoleAssignments = NonNullable<ImportedIssue['roleAssignments']>;

function roleAssignments(raw: RoleAssignments, warnings: string[]): RoleAssignments {
  const named = raw.filter(({ role }) => role.trim() !== '');
  return firstOf(named, limits.people, 'role assignments', warnings).map(({ role, person }) => ({
    role: cut(role.trim(), limits.role, 'a role', warnings),
    person: cleanPerson(person, warnings),
  }));
}

type PlainValue = string | number | null | undefined;

/** Converts each plain field to a value that its column can store. */
const cleaners = mapFieldsByKind<PlainKind, (value: PlainValue, warnings: string[]) => PlainValue>({
  text:
    (_name, { max, trimmed, activity }) =>
    (value, warnings) =>
      typeof value === 'string' ? cut(trimmed ? value.trim() : value, max, activity, warnings) : value,
  integer:
    (_name, { min, max, cleared, activity }) =>
    (value, warnings) => {
      if (value == null || (Number.isInteger(value) && Number(value) >= min && Number(value) <= max))
        return value;
      warnings.push(`${activity} ${value} is skipped`);
      return cleared.to;
    },
  code: () => (value) => value,
  date: () => (value) => value,
});
const cleanerOf = Object.entries(cleaners).map(
  ([name, cleaner]) => [name as FieldOf<PlainKind>, cleaner] as const,
);

type PlainFields = Pick<ImportedIssue, FieldOf<PlainKind>>;

function cleanFields(raw: ImportedIssue, warnings: string[]): PlainFields {
  const clean = cleanerOf.map(([name, cleaner]) => [name, cleaner(raw[name], warnings)] as const);
  // Each cleaner returns a value of its field's kind, which the compiler cannot see.
  return Object.fromEntries(clean) as PlainFields;
}

/** The keys of an issue, in the order that they had when the first fingerprints were stored. */
const firstKeys =
  `sourceId teamCode title description status priority reporter primaryAssignee assignees labels
  parentSourceId projectKey deliveryNumber estimateValue dueDate createdUtc updatedUtc closedUtc comments links
  roleAssignments subscribers relations fields`.split(/\s+/);

/**
 * The issue with its keys in an order that does not depend on the source: first `firstKeys`, then the others by name.
 * Keys that were added later are included only with a value, so that issues in files of earlier versions keep their
 * fingerprint.
 */
function ordered(issue: object): Record<string, unknown> {
  const values: Record<string, unknown> = { ...issue };
  const others = Object.keys(values)
    .filter((key) => !firstKeys.includes(key) && !isEmpty(values[key]))
    .toSorted();
  return Object.fromEntries([...firstKeys, ...others].map((key) => [key, values[key]]));
}

function isEmpty(value: unknown): boolean {
  return value == null || value === '' || value === 0 || (Array.isArray(value) && value.length === 0);
}

function fingerprintOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url');
}

/** The value with the texts changed that the database or the API refuses. Adds to `changes` what was changed in them. */
function storableValue(value: unknown, changes: Set<string>): unknown {
  if (typeof value === 'string') return storableText(value, changes);
  if (Array.isArray(value)) return value.map((item) => storableValue(item, changes));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [storableText(key, changes), storableValue(item, changes)]),
  );
}

function storableText(text: string, changes: Set<string>): string {
  let storable = text;
  if (storable.includes('\0') || !storable.isWellFormed()) {
    storable = storable.replaceAll('\0', '\uFFFD').toWellFormed();
    changes.add('NUL and half surrogate pairs were replaced');
  }
  if (storable.startsWith('\uFEFF')) {
    storable = storable.replace(/^\uFEFF+/, '');
    changes.add('a byte-order mark at the beginning of a text was removed');
  }
  return storable;
}

/** The depth to which a value is nested. Levels below the limit are not examined. */
function depthOf(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null || limit < 0) return 0;
  let deepest = 0;
  for (const item of Object.values(value)) deepest = Math.max(deepest, depthOf(item, limit - 1));
  return deepest + 1;
}
