/** As much of a text as is looked at, and as much as is shown. */
export const headBytes = 64 * 1024;
const headLines = 1_000;

/**
 * The readable head of a text: whole lines of UTF-8, at most a thousand. Undefined when the bytes are no text;
 * `isWhole` says that they are all there are.
 */
export function headOfText(bytes: Uint8Array, isWhole: boolean): string | undefined {
  const text = decode(bytes, isWhole);
  if (text === undefined || text.includes('\0')) return undefined;
  const lines = text.split('\n');
  if (lines.length > headLines) return `${lines.slice(0, headLines).join('\n')}\n`;
  // The last line is cut somewhere; it stays when it is the only one.
  return isWhole || lines.length === 1 ? text : `${lines.slice(0, -1).join('\n')}\n`;
}

/** A character that the end of the head cuts in two is left out; a byte order mark is, too. */
function decode(bytes: Uint8Array, isWhole: boolean): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
  } catch {
    return undefined;
  }
}
