/**
 * The form of a name that lists are sorted and searched by: compatibility decomposition, marks removed, lower case.
 * It is stored beside the name and collated "C", so every engine sorts alike.
 */
export function fold(text: string): string {
  return (
    text
      .normalize('NFKD')
      .replace(/\p{M}+/gu, '')
      .toLowerCase()
      // Lower case writes a sigma at the end of a word in another way, which would hide it from a search within a word.
      .replaceAll('ς', 'σ')
  );
}
