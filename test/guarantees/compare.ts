import type { Section } from './collect.ts';

/**
 * Compares the guarantees of two checkouts, section by section: how many there were and are, then the names that are
 * gone (-) and new (+). A guarantee that was renamed appears under both signs. `isComplete` is false when a section has
 * fewer guarantees than before, and when more guards than before survive, time out or have no verdict.
 */
export function compared(
  before: readonly Section[],
  after: readonly Section[],
): { text: string; isComplete: boolean } {
  const titles = [...new Set([...before, ...after].map(({ title }) => title))].toSorted();
  const of = (sections: readonly Section[], title: string) =>
    sections.find((section) => section.title === title)?.guarantees ?? [];
  let isComplete = true;
  const text = titles.map((title) => {
    const [old, now] = [of(before, title), of(after, title)];
    const isBad = /without a verdict|survived|time-out/.test(title);
    if (isBad ? now.length > old.length : now.length < old.length) isComplete = false;
    const lines = [
      ...without(old, now).map((line) => `  - ${line}\n`),
      ...without(now, old).map((line) => `  + ${line}\n`),
    ];
    return `${title}: ${old.length} before, ${now.length} now\n${lines.join('')}`;
  });
  return { text: text.join(''), isComplete };
}

/** The names in the first list that are missing in the second. A name that occurs twice counts twice. */
function without(list: readonly string[], other: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const name of other) left.set(name, (left.get(name) ?? 0) + 1);
  return list
    .filter((name) => {
      const count = left.get(name) ?? 0;
      left.set(name, count - 1);
      return count <= 0;
    })
    .toSorted();
}
