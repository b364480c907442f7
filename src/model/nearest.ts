/**
 * The known spelling that the client most likely meant; undefined when none is similar. Ignores case, hyphens and underscores.
 * About a third of the letters may be wrong.
 */
export function nearest(given: string, known: readonly string[]): string | undefined {
  // A much longer text is not a typing error, and comparing it would be slow.
  if (given === '' || given.length > 64) return undefined;
  const ranked = known
    .map((spelling) => ({ spelling, slips: slipsBetween(letters(given), letters(spelling)) }))
    .toSorted((a, b) => a.slips - b.slips);
  const [best] = ranked;
  return best && best.slips <= Math.floor((best.spelling.length + 2) / 3) ? best.spelling : undefined;
}

/** The end of a message about an invalid value: a suggestion, if a known value is similar. */
export function hint(given: string, known: readonly string[]): string {
  const meant = nearest(given, known);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

/** How many names a message lists, and how many are compared with the given one, since each comparison takes microseconds. */
const mostListed = 8;
const mostCompared = 250;

/**
 * The end of a message about a name that does not exist: the names that do, and the one that was most likely meant. A long list is
 * cut.
 */
export function whatExists(given: string, names: readonly string[]): string {
  if (names.length === 0) return '; there is none yet';
  const listed = names.slice(0, mostListed).join(', ');
  const others = names.length > mostListed ? ` and ${names.length - mostListed} others` : '';
  const verb = names.length === 1 ? 'is' : 'are';
  return `; there ${verb} ${listed}${others}${hint(given, names.slice(0, mostCompared))}`;
}

function letters(text: string): string {
  return text.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** The Levenshtein distance: the number of inserted, removed and changed letters. */
function slipsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of Array.from(from).entries()) {
    const next = [index + 1];
    for (const [place, other] of Array.from(to).entries()) {
      const changed = (row[place] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[place + 1] ?? 0) + 1, (next[place] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
