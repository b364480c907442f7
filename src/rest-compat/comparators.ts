/** The comparison of a GraphQL filter for a parameter; undefined when the parameter was not sent. */
export function equals<T>(value: T | undefined): { eq: T } | undefined {
  return value === undefined ? undefined : { eq: value };
}

/** The comparison for a parameter that may be repeated. */
export function anyOf<T>(values: T[] | undefined): { in: T[] } | undefined {
  return values && { in: values };
}

/** The comparison for a range. Both bounds are inclusive and optional. */
export function between<T>(
  from: T | undefined,
  to: T | undefined,
): { gte: T | undefined; lte: T | undefined } | undefined {
  return from === undefined && to === undefined ? undefined : { gte: from, lte: to };
}
