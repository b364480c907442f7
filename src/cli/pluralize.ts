/** A number with its noun: `1 issue`, `2 issues`. */
export function pluralize(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}
