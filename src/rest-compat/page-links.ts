/** The URL of the requested page, from which the URLs of other pages are derived. */
interface PageAddress {
  readonly origin: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Clients and proxies accept 8 or 16 KiB for all headers together, and a query alone may be as long. */
export const maxLinksLength = 4_000;

/**
 * The `Link` header of a page of a list (RFC 8288), with the first page and the next one, if any. Undefined when it
 * would be too long; the body contains the cursor too.
 */
export function pageLinks(page: PageAddress, nextCursor: string): string | undefined {
  const first = `<${address(page, '')}>; rel="first"`;
  const links = nextCursor === '' ? first : `<${address(page, nextCursor)}>; rel="next", ${first}`;
  return links.length > maxLinksLength ? undefined : links;
}

/** The URL of the list with another cursor. All other parameters stay the same. */
function address({ origin, path, query }: PageAddress, cursor: string): string {
  const changed = new URLSearchParams(query);
  if (cursor === '') changed.delete('cursor');
  else changed.set('cursor', cursor);
  // A Host header may contain anything. A URL may also consist of a path alone.
  const base = URL.canParse(origin) ? origin : '';
  return `${base}${path}${changed.size > 0 ? `?${changed}` : ''}`;
}
