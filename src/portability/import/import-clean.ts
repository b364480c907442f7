import { createHash } from 'node:crypto';
import { type FieldOf, fieldsAs, type PlainKind } from '../../model/issue-fields.ts';
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
import { cleanPerson, cut, later, shortened } from './import-texts.ts';
import { parseUrl } from '../../resolvers/link-urls.ts';
import { limits } from '../../model/limits.ts';

/** An issue that fits the tables, and its fingerprint: the same source gives the same. */
export interface CleanIssue extends ImportedIssue {
  createdUtc: Date;
  updatedUtc: Date;
  comments: CleanComment[];
  links: CleanLink[];
  activity: CleanActivity[] | undefined;
  attachments: CleanAttachment[] | undefined;
  agentThread: CleanThread | undefined;
  digest: string;
}
export interface CleanComment extends ImportedComment {
  createdUtc: Date;
  updatedUtc: Date;
  isEdited: boolean;
  digest: string;
}
export interface CleanLink extends ImportedLink {
  createdUtc: Date;
  /** What equivalent URLs share. */
  urlHash: Buffer;
}

const largestId = 255;
const largestInteger = 2_147_483_647;
/** Deeper values overflow the stacks of whoever walks them. */
const deepest = 64;

/**
 * Cuts, replaces and leaves out what the tables do not take, each with a warning; refuses what would then be no issue.
 * `nowUtc` stands in for times that the source lacks and is no part of the fingerprint.
 */
export function cleanIssue(
  raw: ImportedIssue,
  nowUtc: Date,
): { issue: CleanIssue; warnings: string[] } | { refused: string } {
  if (depthOf(raw, deepest) > deepest) return { refused: 'its values are nested too deep' };
  const warnings: string[] = [];
  let replaced = false;
  const kept = keepable(raw, () => (replaced = true)) as ImportedIssue;
  if (replaced) warnings.push('NUL and half surrogate pairs were replaced');
  const { sourceId } = kept;
  if (sourceId === '' || sourceId !== raw.sourceId || Array.from(sourceId).length > largestId) {
    return { refused: `its id is not a text of 1 to ${largestId} characters` };
  }
  const fields = cleanFields(kept, warnings);
  if (fields.title === '') return { refused: 'it has no title' };
  const createdUtc = kept.createdUtc ?? kept.updatedUtc ?? nowUtc;
  if (!kept.createdUtc) warnings.push('it does not say when it was made');
  const issue: ImportedIssue = {
    ...kept,
    ...fields,
    reporter: kept.reporter && cleanPerson(kept.reporter),
    primaryAssignee: kept.primaryAssignee && cleanPerson(kept.primaryAssignee),
    assignees: kept.assignees.map(cleanPerson).slice(0, limits.people),
    labels: labels(kept.labels, warnings),
    roleAssignments: kept.roleAssignments
      ?.map(({ role, person: who }) => ({
        role: shortened(role.trim(), limits.role),
        person: cleanPerson(who),
      }))
      .filter(({ role }) => role !== '')
      .slice(0, limits.people),
    subscribers: kept.subscribers?.map(cleanPerson),
  };
  const comments = cleanComments(kept.comments, createdUtc, warnings);
  const links = cleanLinks(kept.links, createdUtc, warnings);
  const updatedUtc = later(kept.updatedUtc ?? createdUtc, createdUtc);
  const closedUtc = kept.closedUtc && later(kept.closedUtc, createdUtc);
  const deletedUtc = kept.deletedUtc && later(kept.deletedUtc, createdUtc);
  const history = {
    activity: cleanActivity(kept.activity, createdUtc, warnings),
    attachments: cleanAttachments(kept.attachments, createdUtc, warnings),
    agentThread: cleanThread(kept.agentThread, createdUtc, warnings),
  };
  const digest = fingerprint(ordered({ ...issue, comments: comments.map((comment) => comment.digest) }));
  const times = { createdUtc, updatedUtc, closedUtc, deletedUtc };
  return { issue: { ...issue, ...times, comments, links, ...history, digest }, warnings };
}

function cleanComments(
  raw: readonly ImportedComment[],
  createdUtc: Date,
  warnings: string[],
): CleanComment[] {
  const known = new Set<string>();
  return raw.flatMap((comment, index): CleanComment[] => {
    const what = `comment ${index + 1}`;
    if (comment.body.trim() === '') {
      warnings.push(`${what} is empty and left out`);
      return [];
    }
    if (known.has(comment.sourceId)) {
      warnings.push(`${what} has the id of another and is left out`);
      return [];
    }
    known.add(comment.sourceId);
    const body = cut(comment.body, limits.comment, what, warnings);
    const { parentSourceId } = comment;
    const hasParent = parentSourceId !== undefined && known.has(parentSourceId);
    if (parentSourceId !== undefined && !hasParent) warnings.push(`${what} answers one that is not there`);
    const kept = {
      ...comment,
      body,
      author: comment.author && cleanPerson(comment.author),
      parentSourceId: hasParent ? parentSourceId : undefined,
    };
    const madeUtc = comment.createdUtc ?? createdUtc;
    return [
      {
        ...kept,
        createdUtc: madeUtc,
        updatedUtc: later(comment.updatedUtc ?? madeUtc, madeUtc),
        isEdited: comment.isEdited ?? false,
        digest: fingerprint(kept),
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
      warnings.push('a link that is no http or https URL is left out');
      return [];
    }
    // Links that were taken away may come again and again; of living ones an issue has one to each place.
    if (!link.deletedUtc && known.has(normalized)) return [];
    if (!link.deletedUtc) known.add(normalized);
    const title = cut(link.title.trim() || url, limits.title, 'the title of a link', warnings);
    const urlHash = createHash('sha256').update(normalized).digest();
    const createdBy = link.createdBy && cleanPerson(link.createdBy);
    const { deletedUtc } = link;
    return [{ url, urlHash, title, createdBy, createdUtc: link.createdUtc ?? createdUtc, deletedUtc }];
  });
}

function labels(names: readonly string[], warnings: string[]): string[] {
  const kept = [...new Set(names.map((name) => cut(name.trim(), limits.name, 'a label', warnings)))].filter(
    (name) => name !== '',
  );
  if (kept.length > limits.labels)
    warnings.push(`only the first ${limits.labels} of ${kept.length} labels are taken`);
  return kept.slice(0, limits.labels);
}

type PlainValue = string | number | null | undefined;

/** Brings a value into what its column takes. */
const cleaners = fieldsAs<PlainKind, (value: PlainValue, warnings: string[]) => PlainValue>({
  text:
    (_name, { max, trimmed, activity }) =>
    (value, warnings) =>
      typeof value === 'string' ? cut(trimmed ? value.trim() : value, max, activity, warnings) : value,
  integer:
    (_name, { min, cleared, activity }) =>
    (value, warnings) => {
      if (
        value == null ||
        (Number.isInteger(value) && Number(value) >= min && Number(value) <= largestInteger)
      )
        return value;
      warnings.push(`${activity} ${value} is left out`);
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
  // A cleaner gives a value of the kind that it takes.
  return Object.fromEntries(clean) as PlainFields;
}

/** The order of the keys that an issue had when fingerprints were first stored. */
const firstKeys =
  `sourceId teamCode title description status priority reporter primaryAssignee assignees labels
  parentSourceId projectKey deliveryNumber estimateValue dueDate createdUtc updatedUtc closedUtc comments links
  roleAssignments subscribers relations fields`.split(/\s+/);

/**
 * The issue with its keys in an order that does not depend on the source: the first ones as they were, then the others
 * by name. A later key counts only where it has a value, so an issue of an earlier file keeps its fingerprint.
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

function fingerprint(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url');
}

/** The value without characters that no text of the database can hold. */
function keepable(value: unknown, replaced: () => void): unknown {
  if (typeof value === 'string') {
    if (!value.includes('\0') && value.isWellFormed()) return value;
    replaced();
    return value.replaceAll('\0', '\uFFFD').toWellFormed();
  }
  if (Array.isArray(value)) return value.map((item) => keepable(item, replaced));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [String(keepable(key, replaced)), keepable(item, replaced)]),
  );
}

/** How deep a value nests; stops looking below the limit. */
function depthOf(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null || limit < 0) return 0;
  let deepest = 0;
  for (const item of Object.values(value)) deepest = Math.max(deepest, depthOf(item, limit - 1));
  return deepest + 1;
}
