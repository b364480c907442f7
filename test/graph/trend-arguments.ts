/** Literals for the arguments that select the days to count, by name. */
export const trendArguments: Readonly<Record<string, string>> = {
  every: 'WEEK',
  from: '"2026-01-01"',
  to: '"2026-01-31"',
  timeZone: '"Europe/Berlin"',
};

/** The required ones among a field's arguments, in parentheses. */
export function neededDays(args: readonly { readonly name: string }[]): string {
  const given = args.flatMap(({ name }) =>
    trendArguments[name] ? [`${name}: ${trendArguments[name]}`] : [],
  );
  return given.length > 0 ? `(${given.join(', ')})` : '';
}
