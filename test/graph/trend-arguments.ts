/** Literals for the arguments that select the days to count, by name. */
export const trendArguments: Readonly<Record<string, string>> = {
  every: 'WEEK',
  from: '"2026-01-01"',
  to: '"2026-01-31"',
  timeZone: '"Europe/Berlin"',
};

/** Those arguments of a field that select the days, with values in parentheses. */
export function dayArguments(args: readonly { readonly name: string }[]): string {
  const selected = args.flatMap(({ name }) =>
    trendArguments[name] ? [`${name}: ${trendArguments[name]}`] : [],
  );
  return selected.length > 0 ? `(${selected.join(', ')})` : '';
}
