/**
 * The folded form of a text, which lists sort and search by: compatibility decomposition, without marks, in lower case.
 * It is stored in a column of its own with the collation "C", so that all database engines sort alike.
 */
export function fold(text: string): string {
  return (
    text
      .normalize('NFKD')
      .replace(/\p{M}+/gu, '')
      .toLowerCase()
      // `toLowerCase` writes a sigma at the end of a word differently, so a search for a part of the word would miss
      // it.
      .replaceAll('ς', 'σ')
  );
}
