import type { Answer, App, RequestOptions } from './app.ts';

/** Sends requests to a server, with the given token unless a request names another. */
export function httpClient(url: string, ownToken: string): Pick<App, 'graphql' | 'request'> {
  const send = async <Body>(
    method: string,
    path: string,
    { token = ownToken, headers = {}, body }: RequestOptions & { body?: unknown },
  ): Promise<Answer<Body>> => {
    const raw = typeof body === 'string' || body instanceof Uint8Array || body === undefined;
    const response = await fetch(new URL(path, url), {
      method,
      redirect: 'manual',
      headers: {
        ...(token && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: raw ? (body as string) : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      body: (isJson && text !== '' ? JSON.parse(text) : text) as Body,
      statements: Number(/desc="(\d+) /.exec(response.headers.get('server-timing') ?? '')?.[1] ?? Number.NaN),
    };
  };
  return {
    request: (method, path, options = {}) => send(method, path, options),
    graphql: (query, variables = {}, options = {}) =>
      send('POST', '/graphql', { ...options, body: { query, variables } }),
  };
}
