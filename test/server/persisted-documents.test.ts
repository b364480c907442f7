import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { maxCachedCharacters } from '../../src/executor/limits.ts';
import { printManifest } from '../../src/executor/documents/manifest.ts';
import { ConfigError, readConfig } from '../../src/server/config.ts';
import { openDocuments } from '../../src/server/graphql/open-documents.ts';
import { type Answer, type App, startApp } from '../support/app.ts';
import { sha256 } from '../support/sha256.ts';

const modern = 'application/graphql-response+json';
const paths = ['direct', 'general'] as const;
const methods = ['POST', 'GET'] as const;
const cases = paths.flatMap((path) => methods.map((method) => [path, method] as const));

const folder = mkdtempSync(join(tmpdir(), 'manifest-'));
const file = join(folder, 'manifest.json');

const servers = new Map<string, App>();
const server = (name: string): App => servers.get(name) ?? never(name);
beforeAll(async () => {
  writeFileSync(
    file,
    JSON.stringify({ teamNames, 'x-ours:old': '{ noSuchField }', [sha256(pinnedDocument)]: pinnedDocument }),
  );
  for (const path of paths) {
    const settings = { GRAPHQL_PATH: path };
    servers.set(path, await startApp({ sharesDatabase: true, settings }));
    const trusted = { ...settings, DOCUMENTS: 'trusted', DOCUMENTS_FILE: file };
    servers.set(`${path}, trusted`, await startApp({ sharesDatabase: true, settings: trusted }));
  }
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  for (const app of servers.values()) await app.stop();
});

const teamNames = 'query TeamNames($first: Int) { teams(first: $first) { nodes { name } } }';
const pinnedDocument =
  'mutation Pinned { accessTokenCreate(input: { name: "x", scopes: ["teams:read"] }) { token } }';

describe.each(cases)('automatic persisted queries (%s path, %s)', (path, method) => {
  const sendRequest = (request: GraphQLRequest) => send(server(path), method, request);

  it('are asked for by their hash, and sent along once', async () => {
    const query = uniqueText('query ($first: Int) { teams(first: $first) { totalCount } }');
    const byHash = { extensions: apollo(sha256(query)), variables: { first: 1 } };
    const unknown = await sendRequest(byHash);
    expect(unknown.status).toBe(200);
    expect(unknown.body).toEqual({
      errors: [
        {
          message: 'PersistedQueryNotFound',
          extensions: { code: 'PERSISTED_QUERY_NOT_FOUND', requestId: expect.any(String) },
        },
      ],
    });
    expect((await sendRequest({ ...byHash, accept: modern })).status).toBe(400);
    const first = await sendRequest({ ...byHash, query });
    expect(first.body).toEqual({ data: { teams: { totalCount: 0 } } });
    const again = await sendRequest(byHash);
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect((await sendRequest({ documentId: `sha256:${sha256(query)}` })).body).toEqual(first.body);
  });

  it('go by documentId alone, too', async () => {
    const query = uniqueText('{ teams { totalCount } }');
    const documentId = `sha256:${sha256(query)}`;
    expect(await codeOf(sendRequest({ documentId }))).toBe('PERSISTED_QUERY_NOT_FOUND');
    const answer = await sendRequest({ documentId, query });
    expect(answer.body).toEqual({ data: { teams: { totalCount: 0 } } });
    expect((await sendRequest({ documentId })).body).toEqual(answer.body);
  });

  it('are refused with another hash than that of their text', async () => {
    const query = uniqueText('{ teams { totalCount } }');
    for (const named of [
      { extensions: apollo(sha256('other')) },
      { documentId: `sha256:${sha256('other')}` },
    ]) {
      expect(await codeOf(sendRequest({ ...named, query }))).toBe('INVALID_REQUEST');
      expect(await codeOf(sendRequest(named))).toBe('PERSISTED_QUERY_NOT_FOUND');
    }
  });

  it('are remembered only if they are valid, and for callers with a token', async () => {
    const invalid = uniqueText('{ noSuchField }');
    const byHash = (query: string) => ({ extensions: apollo(sha256(query)) });
    expect(await codeOf(sendRequest({ ...byHash(invalid), query: invalid }))).toBe(
      'GRAPHQL_VALIDATION_FAILED',
    );
    expect(await codeOf(sendRequest(byHash(invalid)))).toBe('PERSISTED_QUERY_NOT_FOUND');
    const open = uniqueText('{ health { status } }');
    const sent = await sendRequest({ ...byHash(open), query: open, token: null });
    expect(sent.body).toEqual({ data: { health: { status: 'ok' } } });
    expect(await codeOf(sendRequest(byHash(open)))).toBe('PERSISTED_QUERY_NOT_FOUND');
  });

  it.each([
    ['another version', { extensions: { persistedQuery: { version: 2, sha256Hash: sha256('') } } }],
    ['no hash', { extensions: { persistedQuery: { version: 1 } } }],
    ['a hash that is not valid', { extensions: { persistedQuery: { version: 1, sha256Hash: 'ABC' } } }],
    ['no object', { extensions: { persistedQuery: 'x' } }],
    ['an id of another kind', { documentId: 'md5:0' }],
    ['a hash too short', { documentId: 'sha256:0' }],
    ['two ids', { documentId: `sha256:${sha256('a')}`, extensions: apollo(sha256('b')) }],
  ])('are refused with %s: 400', async (_what, named) => {
    const answer = await sendRequest({ ...named, query: '{ teams { totalCount } }' });
    expect([answer.status, await codeOf(answer)]).toEqual([400, 'INVALID_REQUEST']);
  });
});

it('the server remembers a bounded amount of persisted text, of the documents used last', async () => {
  const app = server('direct');
  const long = (name: string) =>
    `# ${name.padEnd(maxCachedCharacters * 0.08, '.')}\n{ teams { totalCount } }`;
  const isKnown = async (query: string) =>
    (await codeOf(send(app, 'POST', { extensions: apollo(sha256(query)) }))) === undefined;
  const keep = (query: string) => send(app, 'POST', { extensions: apollo(sha256(query)), query });
  const [usedDocument, unusedDocument] = [long(uniqueText('used')), long(uniqueText('unused'))];
  await keep(usedDocument);
  await keep(unusedDocument);
  for (let count = 0; count < 11; count += 1) {
    await keep(long(uniqueText('more')));
    expect(await isKnown(usedDocument)).toBe(true);
  }
  expect(await isKnown(unusedDocument)).toBe(false);
  const tooLong = `# ${'.'.repeat(maxCachedCharacters * 0.101)}\n{ teams { totalCount } }`;
  await keep(tooLong);
  expect(await isKnown(tooLong)).toBe(false);
});

describe.each(cases)('a server that trusts a manifest alone (%s path, %s)', (path, method) => {
  const sendRequest = (request: GraphQLRequest) => send(server(`${path}, trusted`), method, request);

  it('runs what the manifest names, by whatever id', async () => {
    const variables = { first: 1 };
    expect((await sendRequest({ documentId: 'teamNames', variables })).body).toEqual({
      data: { teams: { nodes: [] } },
    });
    const byHash = await sendRequest({ documentId: `sha256:${sha256(pinnedDocument)}` });
    if (method === 'GET') expect([byHash.status, byHash.headers.get('allow')]).toEqual([405, 'POST']);
    else expect(byHash.body).toMatchObject({ data: { accessTokenCreate: { token: expect.any(String) } } });
  });

  it('refuses every text, and says what to send', async () => {
    for (const query of ['{ teams { totalCount } }', teamNames]) {
      for (const named of [{}, { extensions: apollo(sha256(query)) }, { documentId: 'teamNames' }]) {
        const answer = await sendRequest({ ...named, query, accept: modern });
        expect(answer.status).toBe(400);
        expect(answer.body.errors).toMatchObject([
          {
            message:
              'This server accepts only the documents of its manifest: send a documentId, and no query.',
            extensions: { code: 'INVALID_REQUEST' },
          },
        ]);
      }
    }
  });

  it('does not remember new documents', async () => {
    const byHash = { extensions: apollo(sha256(teamNames)) };
    await sendRequest({ ...byHash, query: teamNames });
    expect(await codeOf(sendRequest(byHash))).toBe('PERSISTED_QUERY_NOT_FOUND');
  });

  it('says what is wrong with a document of the manifest to whoever names it', async () => {
    const answer = await sendRequest({ documentId: 'x-ours:old' });
    expect(answer.body.errors).toMatchObject([
      {
        message: expect.stringContaining('noSuchField'),
        extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
      },
    ]);
  });
});

it('the server answers REST beside trusted documents', async () => {
  const answer = await server('direct, trusted').request('GET', '/v1/teams');
  expect(answer).toMatchObject({ status: 200, body: { results: [] } });
});

it('the server takes any text beside a manifest, when it was not told to trust it alone', async () => {
  const app = await startApp({ sharesDatabase: true, settings: { DOCUMENTS_FILE: file } });
  const byId = await send(app, 'POST', { documentId: 'teamNames' });
  const byText = await send(app, 'POST', { query: teamNames });
  await app.stop();
  expect(byId.body).toEqual({ data: { teams: { nodes: [] } } });
  expect(byText.body).toEqual(byId.body);
});

describe('a manifest', () => {
  const open = (json: string) => {
    const path = join(folder, 'another.json');
    writeFileSync(path, json);
    return openDocuments(readConfig({ DOCUMENTS: 'trusted', DOCUMENTS_FILE: path }, {}));
  };

  it('is read in the format of Apollo, which is printed here', async () => {
    const opened = await open(printManifest([teamNames, pinnedDocument]));
    expect(opened).toEqual({
      manifest: new Map([
        [sha256(pinnedDocument), pinnedDocument],
        [sha256(teamNames), teamNames],
      ]),
      refusesOthers: true,
    });
  });

  it.each([
    ['no JSON', '{', 'is not JSON'],
    ['a list', '[]', 'is neither in the format'],
    [
      'another version',
      '{"format":"apollo-persisted-query-manifest","version":2,"operations":[]}',
      'is neither',
    ],
    ['an id that is not valid', '{"a b":"{ __typename }"}', 'has an id that no request can name: "a b"'],
    [
      'another text than that of its hash',
      `{"${sha256('x')}":"{ __typename }"}`,
      'has another text than that of',
    ],
    [
      'two documents of one id',
      JSON.stringify({
        format: 'apollo-persisted-query-manifest',
        version: 1,
        operations: [
          { id: 'a', body: '{ __typename }' },
          { id: 'a', body: '{ health { status } }' },
        ],
      }),
      'has two documents with the id a',
    ],
  ])('with %s is refused at the start', async (_what, json, problem) => {
    const refused = await open(json).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ConfigError);
    expect(String(refused)).toContain(problem);
  });

  it('must be there, and named when it alone is trusted', async () => {
    const missing = readConfig({ DOCUMENTS_FILE: join(folder, 'missing.json') }, {});
    await expect(openDocuments(missing)).rejects.toThrow('missing.json does not exist');
    expect(() => readConfig({ DOCUMENTS: 'trusted' }, {})).toThrow('DOCUMENTS_FILE must name the manifest');
    expect(await openDocuments(readConfig({}, {}))).toBeUndefined();
  });
});

interface GraphQLRequest {
  query?: string;
  documentId?: string;
  variables?: Record<string, unknown>;
  extensions?: Record<string, unknown>;
  accept?: string;
  token?: null;
}

interface Body {
  data?: unknown;
  errors?: { message: string; extensions: { code: string } }[];
}

function send(
  app: App,
  method: 'POST' | 'GET',
  { accept = 'application/json', token, ...parameters }: GraphQLRequest,
): Promise<Answer<Body>> {
  const options = { headers: { accept }, ...(token === null && { token }) };
  if (method === 'POST') return app.request<Body>('POST', '/graphql', { ...options, body: parameters });
  const texts = Object.entries(parameters).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const query = new URLSearchParams(Object.fromEntries(texts) as Record<string, string>);
  return app.request<Body>('GET', `/graphql?${query.toString()}`, options);
}

async function codeOf(answer: Promise<Answer<Body>> | Answer<Body>): Promise<string | undefined> {
  return (await answer).body.errors?.[0]?.extensions.code;
}

function apollo(sha256Hash: string) {
  return { persistedQuery: { version: 1, sha256Hash } };
}

let count = 0;

/** No two tests register the same text. */
function uniqueText(query: string): string {
  count += 1;
  return `${query} # ${count}`;
}

function never(name: string): never {
  throw new Error(`No server ${name}.`);
}
