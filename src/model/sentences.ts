import { maxInt32 } from './int32.ts';

/** A message as a sentence: with a full stop, unless it ends with a question. */
export function asSentence(message: string): string {
  return message.endsWith('?') ? message : `${message}.`;
}

/** The message of a refusal: its only violation, or the number of its violations. */
export function detailOf(
  violations: readonly { readonly field: string; readonly message: string }[],
): string {
  const [first, second] = violations;
  return first && !second
    ? asSentence(`${first.field}: ${first.message}`)
    : `${violations.length} fields are invalid.`;
}

/** The violation of a text without visible characters. */
export const blankRule = 'must not be white space alone';

/** The violation of an empty text. */
export const emptyRule = 'must not be empty';

/** The violation of a text that cannot be stored. */
export const storableRule = 'must not contain NUL or half a surrogate pair';

/** The violation of a text of too many characters. */
export function lengthRule(max: number): string {
  return `must have at most ${max} characters`;
}

/** The violation of a list with too many values. */
export function itemsRule(max: number): string {
  return `must have at most ${max} items`;
}

/** The violation of a list with too many different values, in which repeated ones count once. */
export function differentItemsRule(max: number): string {
  return `must have at most ${max} different items`;
}

/** The violation of a number that is not whole or out of range. */
export function wholeNumberRule(min: number, max: number = maxInt32): string {
  return `must be a whole number from ${min} to ${max}`;
}

/** The violation of a text that is not an http or https URL. */
export const httpUrlRule = 'must be an http or https URL, such as https://example.com/page';

const nouns: Readonly<Record<string, string>> = {
  repo: 'repository',
  pstatus: 'project status',
  plink: 'project link',
  app: 'application',
  whdelivery: 'webhook delivery',
};

/** The noun for a prefix of ids. */
export function idNoun(prefix: string): string {
  return nouns[prefix] ?? prefix;
}

/** The violation of an id: "expected a team id, got an issue id". `found` is the known prefix of what was sent. */
export function idRule(prefix: string, found: string | undefined): string {
  const got = found === undefined ? 'something that is not an id' : `${withArticle(found)} id`;
  return `expected ${withArticle(prefix)} id, got ${got}`;
}

function withArticle(prefix: string): string {
  const noun = idNoun(prefix);
  return `${/^[aeio]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** The violation of an id of something that does not exist, or that belongs to another workspace. */
export const notInWorkspace = 'does not belong to this workspace';
