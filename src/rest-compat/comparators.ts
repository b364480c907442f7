/** A graph's comparison for a parameter that was given; none for one that was left out. */
export function equals<T>(value: T | undefined): { eq: T } | undefined {
  return value === undefined ? undefined : { eq: value };
}

/** The same for a parameter that may be repeated. */
export function oneOfThese<T>(values: T[] | undefined): { in: T[] } | undefined {
  return values && { in: values };
}

/** From one value to another, both included; either may be left out. */
export function between<T>(
  from: T | undefined,
  to: T | undefined,
): { gte: T | undefined; lte: T | undefined } | undefined {
  return from === undefined && to === undefined ? undefined : { gte: from, lte: to };
}
