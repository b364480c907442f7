import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Caller } from '../caller.ts';
import { callers } from './database.ts';
import { withIds } from './ids.ts';
import { patchIssue, listComments, type Reply, routes } from './routes.ts';

/**
 * LIMIT: a server that an engineer would write by hand only for these workloads, with node:http and pg. Each request is
 * one prepared statement, whose JSON is sent unchanged except for the ids. It checks the token, its scope, the input
 * and the references, and maintains the same numbers, counters and feed as the product.
 */
const server = createServer((request, response) => {
  answer(request).then(
    (reply) => send(response, reply),
    (error: unknown) => {
      console.error(error);
      send(response, { status: 500, body: '{"code":"internal_error"}' });
    },
  );
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.env['PORT']), '127.0.0.1');

async function answer(request: IncomingMessage): Promise<Reply> {
  const { method, url = '' } = request;
  if (url === '/health') return { status: 200, body: '{"status":"ok"}' };
  const caller = await callers.find(request.headers.authorization);
  if (!caller) return { status: 401, body: '{"code":"unauthenticated"}' };
  const rest =
    /^\/v1\/issues\/([A-Za-z][A-Za-z0-9]{0,9})-([1-9]\d{0,8})(\/comments\?page_size=(\d{1,3}))?$/.exec(url);
  if (rest) {
    const [, code = '', number, isList, pageSize] = rest;
    const key = { code: code.toUpperCase(), number: Number(number) };
    if (isList && method === 'GET')
      return allowed(caller, 'issues:read') ?? listComments(caller, key, Number(pageSize));
    if (method === 'PATCH')
      return allowed(caller, 'issues:write') ?? patchIssue(caller, key, await bodyOf(request));
  }
  const route = method === 'POST' ? routes[url.slice(1)] : undefined;
  if (!route) return { status: 404, body: '{"code":"not_found"}' };
  return allowed(caller, ...route.scopes) ?? route.run(caller, await bodyOf(request));
}

function allowed(caller: Caller, ...scopes: string[]): Reply | undefined {
  return scopes.every((scope) => caller.scopes.has(scope))
    ? undefined
    : { status: 403, body: '{"code":"forbidden"}' };
}

function send(response: ServerResponse, { status, body }: Reply): void {
  const bytes = Buffer.from(withIds(body));
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
  });
  response.end(bytes);
}

function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', reject);
    request.on('end', () => {
      try {
        resolve(JSON.parse(Buffer.concat(chunks).toString()));
      } catch (error) {
        reject(error);
      }
    });
  });
}
