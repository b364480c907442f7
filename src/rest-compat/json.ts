import { maxJsonValues, maxNesting } from '../executor/limits.ts';
import { isNestedDeeper } from '../executor/inputs/nesting.ts';
import { hasMoreValues } from '../model/json.ts';

/** Whether a Content-Type is JSON in UTF-8 (RFC 8259), with any other parameters. */
export function isJsonMediaType(contentType: string): boolean {
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  return type === 'application/json' && (charset === undefined || /^charset="?utf-8"?$/.test(charset));
}

/**
 * Reads JSON in UTF-8. Skips a byte order mark. Of two members with the same name the last counts, as with JSON.parse.
 * `problem` says why a body is refused.
 */
export function readJson(bytes: Uint8Array): { value: unknown } | { problem: string } {
  if (bytes.length === 0) return { problem: 'must be a JSON object; it is empty' };
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { problem: 'must be in UTF-8' };
  }
  if (hasMoreValues(text, maxJsonValues))
    return { problem: `must not have more than ${maxJsonValues.toLocaleString('en')} values` };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `must be JSON${positionOf(error)}` };
  }
  return isNestedDeeper(value, maxNesting)
    ? { problem: `must not be nested more than ${maxNesting} levels deep` }
    : { value };
}

/**
 * The position at which the JSON stops being valid, if V8 gives it. The rest of its message may quote the body, which
 * an answer must not repeat.
 */
function positionOf(error: unknown): string {
  const message = String(error);
  if (message.endsWith('Unexpected end of JSON input')) return '; it ends too early';
  const [, line, column] = / JSON at position \d+ \(line (\d+) column (\d+)\)$/.exec(message) ?? [];
  return line === undefined ? '' : `; it is invalid at line ${line}, column ${column}`;
}
