/** Whether a value of JSON is an object, and not a list or null. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a JSON text; undefined if the text is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const quote = 0x22;
const comma = 0x2c;
const openingBracket = 0x5b;
const backslash = 0x5c;
const openingBrace = 0x7b;
/** The distance of `]` from `[`, and of `}` from `{`. */
const fromOpeningToClosing = 2;

/**
 * Whether a JSON text has more values than a limit. It is not parsed for that, because many values need far more time
 * and memory than their text. Each value but the first follows a comma or the beginning of a list or an object that is
 * not empty; white space in an empty one counts as a value.
 */
export function hasMoreValues(json: string, limit: number): boolean {
  if (json.length <= limit) return false;
  let values = 1;
  let isInText = false;
  for (let index = 0; index < json.length && values <= limit; index += 1) {
    const code = json.charCodeAt(index);
    if (code === quote) isInText = !isInText;
    else if (isInText) index += Number(code === backslash);
    else if (code === comma) values += 1;
    else if (code === openingBracket || code === openingBrace)
      values += Number(json.charCodeAt(index + 1) !== code + fromOpeningToClosing);
  }
  return values > limit;
}
