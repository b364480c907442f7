/** The address of the requested page, from which the addresses of the other pages are made. */
interface PageAddress {
  readonly origin: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Clients and proxies take headers of 8 or 16 KiB, all together; a query may be as long as that by itself. */
export const longestLinks = 4_000;

/**
 * The `Link` header of a page of a list (RFC 8288): the first page, and the next one when there is one. None when it
 * would be too long to be read; the body says the cursor, too.
 */
export function pageLinks(page: PageAddress, nextCursor: string): string | undefined {
  const first = `<${address(page, '')}>; rel="first"`;
  const links = nextCursor === '' ? first : `<${address(page, nextCursor)}>; rel="next", ${first}`;
  return links.length > longestLinks ? undefined : links;
}

/** The same list with another cursor; every other parameter stays as it was sent. */
function address({ origin, path, query }: PageAddress, cursor: string): string {
  const changed = new URLSearchParams(query);
  if (cursor === '') changed.delete('cursor');
  else changed.set('cursor', cursor);
  // A Host header may hold anything; a path alone is an address too.
  const base = URL.canParse(origin) ? origin : '';
  return `${base}${path}${changed.size > 0 ? `?${changed}` : ''}`;
}
