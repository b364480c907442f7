import { differentItemsRule } from '../../model/sentences.ts';
import { textProblem, type TextRules } from '../../model/text-rules.ts';
import type { Violations } from '../errors.ts';
import { decodeId, type IdPrefix } from '../ids.ts';

/** Adds a violation for a text of the wrong length or with characters that cannot be stored. */
export function checkText(violations: Violations, field: string, sent: string, rules: TextRules): void {
  const problem = textProblem(sent, rules);
  if (problem !== undefined) violations.add(field, problem);
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

/** The uuids in a list of ids, each once, in their order. A list that is too long gets no other violation. */
export function uuidsOf(
  violations: Violations,
  field: string,
  prefix: IdPrefix,
  ids: readonly string[],
  max: number,
): string[] {
  const different = new Set(ids);
  if (different.size > max) {
    violations.add(field, differentItemsRule(max));
    return [];
  }
  const uuids = new Set<string>();
  for (const [index, id] of ids.entries()) {
    const decoded = decodeId(prefix, id);
    if ('uuid' in decoded) uuids.add(decoded.uuid);
    else violations.add(field, `item ${index + 1}: ${decoded.problem}`);
  }
  return [...uuids];
}
