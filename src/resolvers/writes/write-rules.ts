import type { Violations } from '../errors.ts';
import { decodeId, type IdPrefix } from '../ids.ts';

/** The longest texts and lists that are taken, in code points and items (contract.md, "Writes"). */
export const limits = {
  title: 255,
  description: 100_000,
  comment: 50_000,
  url: 2_048,
  role: 50,
  labels: 50,
  people: 50,
  followUpActions: 10,
  batch: 50,
  /** What a filter compares with. */
  filterText: 1_000,
  /** Of a teammate, a team, a status and so on. */
  name: 255,
  fileName: 255,
  mediaType: 255,
  emailAddress: 320,
  color: 50,
  iconCss: 255,
  slug: 100,
  summary: 1_000,
  teamCode: 10,
  projectKey: 50,
  repositoryName: 500,
  teams: 10_000,
  projectMembers: 10_000,
  projectLabels: 250,
  /** `ENGINEERING-2147483647`: the code of a team and a number. */
  issueKey: 21,
  /** What an entry of a feed says: who did what to what, each name of these lengths. */
  activity: 2_000,
  threadPreview: 200,
  threadMessages: 1_000,
} as const;

/** Notes what is wrong with a text: its length, or characters that cannot be kept. */
export function checkText(
  violations: Violations,
  field: string,
  text: string,
  { min, max }: { min: 0 | 1; max: number },
): void {
  if (text.includes('\0') || !text.isWellFormed()) {
    violations.add(field, 'must not contain NUL or half a surrogate pair');
  } else if (text.startsWith('\uFEFF')) {
    // It says how bytes are ordered, and is no part of a text; PGlite would lose it.
    violations.add(field, 'must not begin with a byte-order mark');
  } else if (text.length < min) {
    violations.add(field, 'must not be empty');
  } else if (isLonger(text, max)) {
    violations.add(field, `must have at most ${max} characters`);
  }
}

/** The uuid behind an id of one kind; undefined, and noted, when it is none. */
export function uuidOf(
  violations: Violations,
  field: string,
  prefix: IdPrefix,
  id: string,
): string | undefined {
  const decoded = decodeId(prefix, id);
  if ('uuid' in decoded) return decoded.uuid;
  violations.add(field, decoded.problem);
  return undefined;
}

/** The uuids behind a list of ids, each once, in their order. */
export function uuidsOf(
  violations: Violations,
  field: string,
  prefix: IdPrefix,
  ids: readonly string[],
  max: number,
): string[] {
  const uuids = new Set<string>();
  for (const [index, id] of ids.entries()) {
    const decoded = decodeId(prefix, id);
    if ('uuid' in decoded) uuids.add(decoded.uuid);
    else violations.add(field, `item ${index + 1}: ${decoded.problem}`);
  }
  violations.that(uuids.size <= max, field, `must have at most ${max} items`);
  return [...uuids];
}

function isLonger(text: string, max: number): boolean {
  if (text.length <= max) return false;
  if (text.length > 2 * max) return true;
  let length = 0;
  for (const _ of text) length += 1;
  return length > max;
}
