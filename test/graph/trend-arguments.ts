/** Literals for the arguments that say which days are counted, by their names. */
export const trendArguments: Readonly<Record<string, string>> = {
  every: 'WEEK',
  from: '"2026-01-01"',
  to: '"2026-01-31"',
  timeZone: '"Europe/Berlin"',
};

/** Those that a field cannot do without, in parentheses. */
export function neededDays(args: readonly { readonly name: string }[]): string {
  const given = args.flatMap(({ name }) =>
    trendArguments[name] ? [`${name}: ${trendArguments[name]}`] : [],
  );
  return given.length > 0 ? `(${given.join(', ')})` : '';
}
