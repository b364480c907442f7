/**
 * Loaded before the test files. It makes a request fail if the response of a REST route is not one that
 * openapi.json describes.
 */
const send = globalThis.fetch;

globalThis.fetch = async (input, init) => {
  const response = await send(input, init);
  const { hostname, pathname } = new URL(response.url);
  const isRest = pathname.startsWith('/v1/') || /^\/(?:healthz?|readyz)$/.test(pathname);
  if (!isRest || hostname !== '127.0.0.1' || response.redirected) return response;
  // A stream does not end. The tests of streams compare its events with pages.
  const isStream = response.headers.get('Content-Type')?.startsWith('text/event-stream') ?? false;
  const text = isStream ? '' : await response.clone().text();
  const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
  // Imported on demand, because most test files send no such request.
  const { responseDifferences } = await import('./openapi.ts');
  const differences = responseDifferences(method, pathname, {
    status: response.status,
    headers: response.headers,
    text,
  });
  if (differences.length > 0)
    throw new Error(`The response differs from openapi.json.\n${differences.join('\n')}`);
  return response;
};
