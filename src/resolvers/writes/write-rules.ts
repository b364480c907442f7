import { blankRule } from '../../model/sentences.ts';
import type { Violations } from '../errors.ts';
import { decodeId, type IdPrefix } from '../ids.ts';

/**
 * Adds a violation for a text of the wrong length or with characters that cannot be stored. With a `min` of 1, the text
 * must have a visible character. If it is `trimmed`, the rest is checked without white space at both ends.
 */
export function checkText(
  violations: Violations,
  field: string,
  sent: string,
  { min, max, trimmed = false }: { min: 0 | 1; max: number; trimmed?: boolean | undefined },
): void {
  const text = trimmed ? sent.trim() : sent;
  if (text.includes('\0') || !text.isWellFormed()) {
    violations.add(field, 'must not contain NUL or half a surrogate pair');
  } else if (text.startsWith('\uFEFF')) {
    // A byte order mark is not part of a text, and PGlite would drop it.
    violations.add(field, 'must not begin with a byte-order mark');
  } else if (sent.length < min) {
    violations.add(field, 'must not be empty');
  } else if (min > 0 && !/\S/.test(text)) {
    violations.add(field, blankRule);
  } else if (isLonger(text, max)) {
    violations.add(field, `must have at most ${max} characters`);
  }
}

/** The uuid in an id of one type. Returns undefined, and adds a violation, for any other text. */
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

/** The uuids in a list of ids, each once, in their order. */
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
  violations.addUnless(uuids.size <= max, field, `must have at most ${max} items`);
  return [...uuids];
}

/** Whether a text has more than this many characters. A character is a Unicode code point. */
export function isLonger(text: string, max: number): boolean {
  if (text.length <= max) return false;
  if (text.length > 2 * max) return true;
  let length = 0;
  for (const _ of text) length += 1;
  return length > max;
}
