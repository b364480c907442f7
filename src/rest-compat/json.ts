import { maxNesting } from '../executor/limits.ts';
import { isNestedDeeper } from '../executor/nesting.ts';

/** Whether a Content-Type is JSON as RFC 8259 has it: UTF-8, whatever parameters stand beside. */
export function isJsonMediaType(contentType: string): boolean {
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  return type === 'application/json' && (charset === undefined || /^charset="?utf-8"?$/.test(charset));
}

/**
 * Reads JSON text in UTF-8; a byte order mark is skipped, and of two members of one name the last counts, as with
 * JSON.parse. The problem says why a body is refused.
 */
export function readJson(bytes: Uint8Array): { value: unknown } | { problem: string } {
  if (bytes.length === 0) return { problem: 'must be a JSON object; it is empty' };
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return { problem: 'must be JSON in UTF-8' };
  }
  return isNestedDeeper(value, maxNesting)
    ? { problem: `must not be nested more than ${maxNesting} levels deep` }
    : { value };
}
