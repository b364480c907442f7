/**
 * The known spelling that is most similar to the text; undefined when none is. Ignores case, hyphens and underscores.
 * About a third of the letters may be wrong, and not all of them.
 */
export function nearest(text: string, known: readonly string[]): string | undefined {
  // A much longer text is not a typing error, and comparing it would be slow.
  if (text === '' || text.length > 64) return undefined;
  const ranked = known
    .map((spelling) => ({ spelling, edits: editDistance(normalized(text), normalized(spelling)) }))
    .toSorted((a, b) => a.edits - b.edits);
  const [best] = ranked;
  if (!best) return undefined;
  const { length } = best.spelling;
  const allowed = Math.min(Math.floor((length + 2) / 3), length - 1);
  return best.edits <= allowed ? best.spelling : undefined;
}

/** The end of a message about an invalid value: the known value that is most similar, if one is similar enough. */
export function suggestionFor(text: string, known: readonly string[]): string {
  const meant = nearest(text, known);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

/** The maximum numbers of names that a message lists, and that are compared with the unknown one, which takes microseconds for each. */
const maxListed = 8;
const maxCompared = 250;

/**
 * The end of a message about a name that does not exist: the existing names, and the one that was most likely meant. A
 * long list is truncated.
 */
export function listExisting(text: string, names: readonly string[]): string {
  if (names.length === 0) return '; there is none yet';
  const listed = names.slice(0, maxListed).join(', ');
  const others = names.length > maxListed ? ` and ${names.length - maxListed} others` : '';
  const verb = names.length === 1 ? 'is' : 'are';
  return `; there ${verb} ${listed}${others}${suggestionFor(text, names.slice(0, maxCompared))}`;
}

function normalized(text: string): string {
  return text.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** The Levenshtein distance: the number of inserted, removed and changed letters. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of Array.from(from).entries()) {
    const next = [index + 1];
    for (const [column, other] of Array.from(to).entries()) {
      const changed = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
