import { isHttpUrl } from './http-url.ts';
import { blankRule, emptyRule, httpUrlRule, lengthRule, storableRule } from './sentences.ts';

export interface TextRules {
  /** With 1, the text must have a visible character. */
  readonly min: 0 | 1;
  /** The maximum length, in characters and not in UTF-16 units. */
  readonly max: number;
  /** Whether the text is stored without white space at both ends. */
  readonly trimmed?: boolean | undefined;
}

/** What is wrong with a text: its length, or characters that cannot be stored. Undefined for a valid text. */
export function textProblem(sent: string, { min, max, trimmed = false }: TextRules): string | undefined {
  const text = trimmed ? sent.trim() : sent;
  if (text.includes('\0') || !text.isWellFormed()) return storableRule;
  // A byte order mark is not part of a text, and PGlite would drop it.
  if (text.startsWith('\uFEFF')) return 'must not begin with a byte-order mark';
  if (sent.length < min) return emptyRule;
  if (min > 0 && !/\S/.test(text)) return blankRule;
  return isLonger(text, max) ? lengthRule(max) : undefined;
}

/** Whether a text has more than this many characters. A character is a Unicode code point. */
export function isLonger(text: string, max: number): boolean {
  if (text.length <= max) return false;
  if (text.length > 2 * max) return true;
  let length = 0;
  for (const _ of text) length += 1;
  return length > max;
}

/** What is wrong with an absolute http or https URL, which is stored without white space at both ends. */
export function httpUrlProblem(sent: string, max: number): string | undefined {
  const problem = textProblem(sent, { min: 1, max, trimmed: true });
  return problem ?? (isHttpUrl(sent.trim()) ? undefined : httpUrlRule);
}
