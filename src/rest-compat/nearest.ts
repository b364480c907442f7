/**
 * The one of the known spellings that somebody most likely meant; undefined when none is near. Case does not count,
 * nor hyphens and underscores, and about a third of the letters may be wrong.
 */
export function nearest(given: string, known: readonly string[]): string | undefined {
  // What is much longer than anything known is no slip of the pen, and would be slow to compare.
  if (given === '' || given.length > 64) return undefined;
  const ranked = known
    .map((spelling) => ({ spelling, slips: slipsBetween(letters(given), letters(spelling)) }))
    .toSorted((a, b) => a.slips - b.slips);
  const [best] = ranked;
  return best && best.slips <= Math.floor((best.spelling.length + 2) / 3) ? best.spelling : undefined;
}

/** The end of a message about a wrong value: the value that was meant, if there is one near. */
export function hint(given: string, known: readonly string[]): string {
  const meant = nearest(given, known);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

function letters(text: string): string {
  return text.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** Levenshtein's distance: letters put in, taken out or changed. */
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
