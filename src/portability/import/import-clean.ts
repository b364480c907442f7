import { createHash } from 'node:crypto';
import { Violations } from '../../resolvers/errors.ts';
import type { ImportedComment, ImportedIssue, ImportedLink, ImportedPerson } from './import-issue.ts';
import { parseUrl } from '../../resolvers/link-urls.ts';
import { limits } from '../../resolvers/writes/write-rules.ts';

/** An issue that fits the tables, and its fingerprint: the same source gives the same. */
export interface CleanIssue extends ImportedIssue {
  createdUtc: Date;
  updatedUtc: Date;
  comments: CleanComment[];
  links: CleanLink[];
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
  const title = cut(kept.title.trim(), limits.title, 'the title', warnings);
  if (title === '') return { refused: 'it has no title' };
  const createdUtc = kept.createdUtc ?? kept.updatedUtc ?? nowUtc;
  if (!kept.createdUtc) warnings.push('it does not say when it was made');
  const issue: ImportedIssue = {
    ...kept,
    title,
    description: cut(kept.description, limits.description, 'the description', warnings),
    reporter: kept.reporter && person(kept.reporter),
    primaryAssignee: kept.primaryAssignee && person(kept.primaryAssignee),
    assignees: kept.assignees.map(person).slice(0, limits.people),
    labels: labels(kept.labels, warnings),
    estimateValue: estimate(kept.estimateValue, warnings),
    roleAssignments: kept.roleAssignments
      ?.map(({ role, person: who }) => ({ role: shortened(role.trim(), limits.role), person: person(who) }))
      .filter(({ role }) => role !== '')
      .slice(0, limits.people),
    subscribers: kept.subscribers?.map(person),
  };
  const comments = cleanComments(kept.comments, createdUtc, warnings);
  const links = cleanLinks(kept.links, createdUtc, warnings);
  const updatedUtc = later(kept.updatedUtc ?? createdUtc, createdUtc);
  const closedUtc = kept.closedUtc && later(kept.closedUtc, createdUtc);
  const digest = fingerprint({ ...issue, comments: comments.map((comment) => comment.digest) });
  return { issue: { ...issue, createdUtc, updatedUtc, closedUtc, comments, links, digest }, warnings };
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
      author: comment.author && person(comment.author),
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
    if (known.has(normalized)) return [];
    known.add(normalized);
    const title = cut(link.title.trim() || url, limits.title, 'the title of a link', warnings);
    const urlHash = createHash('sha256').update(normalized).digest();
    const createdBy = link.createdBy && person(link.createdBy);
    return [{ url, urlHash, title, createdBy, createdUtc: link.createdUtc ?? createdUtc }];
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

function estimate(value: number | null | undefined, warnings: string[]): number | null | undefined {
  if (value == null || (Number.isInteger(value) && value >= 0 && value <= largestInteger)) return value;
  warnings.push(`the estimate ${value} is left out`);
  return null;
}

function person({ name, emailAddress, principalKind }: ImportedPerson): ImportedPerson {
  const email = emailAddress?.trim();
  return {
    name: shortened(name.trim(), limits.name) || shortened(email ?? '', limits.name) || 'Unknown',
    emailAddress: email === undefined || email === '' || email.length > 320 ? undefined : email,
    principalKind,
  };
}

function cut(text: string, max: number, what: string, warnings: string[]): string {
  const short = shortened(text, max);
  if (short !== text) warnings.push(`${what} was cut to ${max} characters`);
  return short;
}

/** At most so many characters, the last an ellipsis when something is missing. */
function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  // Twice as many code units hold as many characters, whatever they are.
  const characters = Array.from(text.slice(0, 2 * max + 2));
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}

function later(left: Date, right: Date): Date {
  return left > right ? left : right;
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
