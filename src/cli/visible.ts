/**
 * The text with its control characters as escapes. Those of a file or of a name could otherwise forge a line of output,
 * or control the terminal. `keepsLines` leaves line feeds as they are.
 */
export function escapeControlCharacters(text: string, { keepsLines = false } = {}): string {
  return text.replaceAll(/\p{Cc}/gu, (character) =>
    keepsLines && character === '\n' ? character : escapeOf(character),
  );
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
