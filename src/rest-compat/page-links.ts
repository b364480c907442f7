/** Where a request came in: what the addresses of its other pages are made from. */
interface Place {
  readonly origin: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** The `Link` header of a page of a list (RFC 8288): the first page, and the next one when there is one. */
export function pageLinks(place: Place, nextCursor: string): string {
  const first = `<${address(place, '')}>; rel="first"`;
  return nextCursor === '' ? first : `<${address(place, nextCursor)}>; rel="next", ${first}`;
}

/** The same list with another cursor; every other parameter stays as it was sent. */
function address({ origin, path, query }: Place, cursor: string): string {
  const changed = new URLSearchParams(query);
  if (cursor === '') changed.delete('cursor');
  else changed.set('cursor', cursor);
  // A Host header may hold anything; a path alone is an address too.
  const base = URL.canParse(origin) ? origin : '';
  return `${base}${path}${changed.size > 0 ? `?${changed}` : ''}`;
}
