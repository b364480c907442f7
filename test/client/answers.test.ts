import { expect, it } from '@jest/globals';
import { connect, type Workgraph, WorkgraphError } from '../../src/client/client.ts';
import { OpenIssuesDocument } from '../../src/client/documents.generated.ts';
import { itInBrowser, openBrowser, openPage } from '../pages/browser.ts';
import { bundleClient } from './bundle.ts';
import { failureOf } from './failure-of.ts';
import { startScriptedServer } from './scripted-server.ts';

const token = 'wg_token';
const params = { path: { issueKey: 'WEB-1' } };

/** One call of each kind. */
const calls: Record<string, (workgraph: Workgraph) => Promise<unknown>> = {
  GET: ({ rest }) => rest.GET('/v1/issues/{issueKey}', { params }),
  POST: ({ rest }) => rest.POST('/v1/issues/{issueKey}/comments', { params, body: { body: 'A comment' } }),
  PATCH: ({ rest }) => rest.PATCH('/v1/issues/{issueKey}', { params, body: { title: 'A title' } }),
  DELETE: ({ rest }) => rest.DELETE('/v1/issues/{issueKey}', { params }),
  'a loop over a list': ({ rest }) => rest.items('/v1/teams').next(),
  'a table': ({ rest }) => rest.GET('/v1/stats', { parseAs: 'text' }),
  'a query': ({ graph }) => graph.request('{ teams { totalCount } }'),
  'a mutation': ({ graph }) =>
    graph.request('mutation { commentCreate(input: { issueKey: "WEB-1", body: "A" }) { comment { id } } }'),
  'a loop over a connection': ({ graph }) =>
    graph.nodes(OpenIssuesDocument, {}, ({ issues }) => issues).next(),
  changes: (workgraph) => workgraph.changes().next(),
  'a subscription': (workgraph) => workgraph.subscribe('subscription { changes { position } }').next(),
};
const kinds = Object.keys(calls);
const call = (kind: string, url: string) =>
  failureOf(calls[kind]?.(connect({ url, token })) ?? Promise.reject());

it.each(kinds)('%s throws an error that names the redirect, and does not follow it', async (kind) => {
  await using elsewhere = await startScriptedServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"results": [], "pagination": {}}');
  });
  for (const status of [301, 302, 303, 307, 308]) {
    await using server = await startScriptedServer((_, response) => {
      response.writeHead(status, { Location: `${elsewhere.url}/login` }).end();
    });
    const error = await call(kind, server.url);
    expect(error).toMatchObject({ code: 'unexpected_answer', status });
    expect(error.message).toContain(`${elsewhere.url}/login`);
    expect(server.seen).toHaveLength(1);
  }
  expect(elsewhere.seen).toEqual([]);
});

it('the client reads the content of an attachment where the server redirects to, without its token', async () => {
  await using storage = await startScriptedServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>A page</h1>');
  });
  await using server = await startScriptedServer((_, response) => {
    response.writeHead(302, { Location: `${storage.url}/signed` }).end();
  });
  const { rest } = connect({ url: server.url, token });
  const file = { path: { issueKey: 'WEB-1', attachmentId: 'attachment_1' } };
  const { data } = await rest.GET('/v1/issues/{issueKey}/attachments/{attachmentId}/content', {
    params: file,
    parseAs: 'blob',
  });
  expect(await data.text()).toBe('<h1>A page</h1>');
  expect(storage.seen.map(({ headers }) => headers.authorization)).toEqual([undefined]);
});

it.each([
  ['a page', 'text/html', '<!doctype html><h1>Log in</h1>'],
  ['a page that says it is JSON', 'application/json', '<!doctype html><h1>Log in</h1>'],
  ['JSON that says it is a page', 'text/html', '{"data": {}, "results": [], "pagination": {}}'],
  ['interrupted JSON', 'application/json', '{"data": {"teams"'],
  ['a list', 'application/json', '[]'],
  ['null', 'application/json', 'null'],
  ['an empty body', 'application/json', ''],
])('the client does not take %s for an answer of workgraph', async (_, type, body) => {
  await using server = await startScriptedServer((_, response) => {
    response.writeHead(200, { 'Content-Type': type, 'X-Request-Id': 'r-1' }).end(body);
  });
  // A table is plain text, so only its content type can show that it is none.
  for (const kind of kinds.filter((kind) => kind !== 'a table' || type === 'text/html')) {
    const expected = { code: 'unexpected_answer', status: 200, requestId: 'r-1' };
    expect([kind, await call(kind, server.url)]).toEqual([kind, expect.objectContaining(expected)]);
  }
});

it.each(kinds.filter((kind) => kind !== 'DELETE'))('%s throws an error at 204', async (kind) => {
  await using server = await startScriptedServer((_, response) => void response.writeHead(204).end());
  expect(await call(kind, server.url)).toMatchObject({ code: 'unexpected_answer', status: 204 });
});

it('the client does not take an object of another service for a list, or for an answer of GraphQL', async () => {
  await using server = await startScriptedServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"ok": true}');
  });
  for (const kind of ['a loop over a list', 'a query', 'a mutation', 'a loop over a connection', 'changes'])
    expect(await call(kind, server.url)).toMatchObject({ code: 'unexpected_answer', status: 200 });
});

it('the error about an answer that cannot be parsed has the error of the parser as its cause', async () => {
  await using server = await startScriptedServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{');
  });
  for (const kind of ['GET', 'a query']) {
    const { cause } = await call(kind, server.url);
    expect(cause).toMatchObject({ name: 'SyntaxError' });
  }
});

it.each([['[null]'], ['["x"]'], ['[]'], ['[{"message": ""}]'], ['[{"message": 1, "extensions": null}]']])(
  'an answer with the errors %s throws one error, which has a message',
  async (errors) => {
    for (const status of [200, 400]) {
      await using server = await startScriptedServer((_, response) => {
        response.writeHead(status, { 'Content-Type': 'application/json' }).end(`{"errors": ${errors}}`);
      });
      const error = await call('a query', server.url);
      expect(error).toMatchObject({ code: 'unexpected_answer', status });
      expect(error.message).not.toBe('');
    }
  },
);

it.each([['{'], ['null'], ['[]']])(
  'a stream ends with an error when the data of an event is %s',
  async (data) => {
    await using server = await startScriptedServer((_, response) => {
      response
        .writeHead(200, { 'Content-Type': 'text/event-stream' })
        .write(`event: next\ndata: ${data}\n\n`);
    });
    for (const kind of ['changes', 'a subscription'])
      expect(await call(kind, server.url)).toMatchObject({ code: 'unexpected_answer' });
  },
);

it('a stream throws when the server asks it to wait for longer than the client may', async () => {
  await using server = await startScriptedServer((_, response) => {
    response.writeHead(429, { 'Retry-After': '3600' }).end();
  });
  for (const kind of ['changes', 'a subscription'])
    expect(await call(kind, server.url)).toMatchObject({ status: 429, retryAfterSeconds: 3_600 });
  expect(server.seen).toHaveLength(2);
});

it.each([
  [200, 'text/html'],
  [200, 'application/json'],
  [404, 'text/html'],
])('the client counts an answer that stops within its body as lost (%s, %s)', async (status, type) => {
  await using server = await startScriptedServer((_, response) => {
    response.writeHead(status, { 'Content-Type': type }).write('<html>');
  });
  const workgraph = connect({ url: server.url, token, timeoutMs: 200, retries: 0 });
  for (const kind of ['GET', 'a query', 'a table'])
    expect(await failureOf(calls[kind]?.(workgraph) ?? Promise.reject())).toMatchObject({
      code: 'unreachable',
    });
});

it('a file may take longer than an answer, and an interrupted one throws a WorkgraphError', async () => {
  await using server = await startScriptedServer((request, response) => {
    response.writeHead(200, { 'Content-Type': 'image/png', 'Content-Length': 6 }).write('one');
    if (request.url?.includes('WEB-1')) response.socket?.end();
    else setTimeout(() => response.end('two'), 300);
  });
  const { rest } = connect({ url: server.url, token, timeoutMs: 200 });
  const content = (issueKey: string) =>
    rest.GET('/v1/issues/{issueKey}/attachments/{attachmentId}/content', {
      params: { path: { issueKey, attachmentId: 'attachment_1' } },
      parseAs: 'blob',
    });
  const { data } = await content('WEB-2');
  expect(await data.text()).toBe('onetwo');
  expect(await failureOf(content('WEB-1'))).toMatchObject({ code: 'unreachable' });
});

it('a call with a tag has no data after 304, and one without a tag throws an error', async () => {
  await using server = await startScriptedServer((_, response) => void response.writeHead(304).end());
  const { rest } = connect({ url: server.url, token });
  const header = { 'If-None-Match': '"r1-a"' };
  const { data, response } = await rest.GET('/v1/issues/{issueKey}', { params: { ...params, header } });
  // Its type allows for that: without the question mark, this does not compile.
  expect([data?.key, response.status]).toEqual([undefined, 304]);
  expect(await call('GET', server.url)).toMatchObject({ code: 'unexpected_answer', status: 304 });
});

it('the client sends a call with the fetch that the call brings along', async () => {
  await using server = await startScriptedServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"key": "WEB-1"}');
  });
  const sent: string[] = [];
  const ownFetch = (request: Request) => {
    sent.push(request.url);
    return fetch(request);
  };
  const { rest } = connect({ url: server.url, token });
  const { data } = await rest.GET('/v1/issues/{issueKey}', { params, fetch: ownFetch });
  expect([data.key, sent]).toEqual(['WEB-1', [`${server.url}/v1/issues/WEB-1`]]);
});

it.each([
  ['url', { url: '127.0.0.1:4640', token }],
  ['url', { url: 'localhost:4640', token }],
  ['url', { url: '', token }],
  ['url', { url: 'https://me:secret@work.example.com', token }],
  ['url', { url: 'https://work.example.com/?page=1', token }],
  ['token', { url: 'https://work.example.com', token: 'wg_tökén' }],
  ['token', { url: 'https://work.example.com', token: 'wg token' }],
  ['token', { url: 'https://work.example.com', token: '' }],
  ['token', { url: 'https://work.example.com', token: ' \n' }],
  ['documents', { url: 'https://work.example.com', token, documents: { version: 'no document' } }],
])('connect refuses an option that cannot be used, and says what it must be (%s)', (field, options) => {
  let thrown: unknown;
  try {
    connect(options);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(WorkgraphError);
  expect(thrown).toMatchObject({ code: 'invalid_request', violations: [{ field }] });
  expect(String(thrown)).toContain(`\`${field}\` must be`);
});

it('connect accepts a token with the line break of the file that it comes from', async () => {
  await using server = await startScriptedServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  await connect({ url: `${server.url}/`, token: `${token}\n` }).rest.GET('/v1/issues/{issueKey}', { params });
  const [request] = server.seen;
  expect([request?.url, request?.headers.authorization]).toEqual(['/v1/issues/WEB-1', `Bearer ${token}`]);
});

itInBrowser('the client reports a redirect in a page too, although browsers hide its target', async () => {
  const code = await bundleClient([]);
  await using site = await startScriptedServer((request, response) => {
    if (request.url === '/')
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>A page</title>');
    else response.writeHead(307, { Location: '/' }).end();
  });
  const browser = await openBrowser();
  const { page } = await openPage(browser, site.url);
  await page.goto(site.url);
  const seen: unknown = await page.evaluate(`(async () => {
    const { connect } = await import(URL.createObjectURL(new Blob([${JSON.stringify(code)}], { type: 'text/javascript' })));
    const { rest, graph, changes } = connect(${JSON.stringify({ url: site.url, token })});
    const calls = [
      rest.POST('/v1/issues', { body: { title: 'A title' } }),
      graph.request('{ teams { totalCount } }'),
      changes().next(),
    ];
    const results = await Promise.allSettled(calls);
    return results.map(({ reason }) => [reason?.name, reason?.code, /redirect/.test(reason?.message)]);
  })()`);
  expect(seen).toEqual(Array.from({ length: 3 }, () => ['WorkgraphError', 'unexpected_answer', true]));
  await browser.close();
});
