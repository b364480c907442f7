/** The number of bytes of a text that are examined for its preview. */
export const headBytes = 64 * 1024;
const headLines = 1_000;

/**
 * The first lines of a text, at most a thousand, all complete. Undefined if the bytes are not UTF-8 text. `isWhole`
 * means that the bytes are the whole file.
 */
export function headOfText(bytes: Uint8Array, isWhole: boolean): string | undefined {
  const text = decode(bytes, isWhole);
  if (text === undefined || text.includes('\0')) return undefined;
  const lines = text.split('\n');
  if (lines.length > headLines) return `${lines.slice(0, headLines).join('\n')}\n`;
  // The last line may be truncated, so it is removed unless it is the only one.
  return isWhole || lines.length === 1 ? text : `${lines.slice(0, -1).join('\n')}\n`;
}

/** Decodes UTF-8. A byte order mark is removed, and so is a character that the end of the bytes truncates. */
function decode(bytes: Uint8Array, isWhole: boolean): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
  } catch {
    return undefined;
  }
}
