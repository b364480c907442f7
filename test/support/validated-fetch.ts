/**
 * Loaded before the test files: whatever a test asks of the REST face, the answer must be one that
 * openapi.json describes, or the request fails.
 */
const send = globalThis.fetch;

globalThis.fetch = async (input, init) => {
  const response = await send(input, init);
  const { hostname, pathname } = new URL(response.url);
  const isRest = pathname.startsWith('/v1/') || /^\/(?:healthz?|readyz)$/.test(pathname);
  if (!isRest || hostname !== '127.0.0.1' || response.redirected) return response;
  // A stream has no end; its events are compared with pages by the tests of streams.
  const isStream = response.headers.get('Content-Type')?.startsWith('text/event-stream') ?? false;
  const text = isStream ? '' : await response.clone().text();
  const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
  // Late, since most test files send no such request.
  const { undocumented } = await import('./openapi.ts');
  const differences = undocumented(method, pathname, {
    status: response.status,
    headers: response.headers,
    text,
  });
  if (differences.length > 0) throw new Error(`openapi.json says otherwise.\n${differences.join('\n')}`);
  return response;
};
