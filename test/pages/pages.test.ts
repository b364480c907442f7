import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type App, startApp } from '../support/app.ts';
import { sharedApp, type SharedApp } from '../support/shared-app.ts';

const browser = { token: null, headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };

let app: SharedApp;
let closed: App;
beforeAll(async () => {
  app = await sharedApp();
  closed = await startApp({ sharesDatabase: true, settings: { EXPLORER: 'off' } });
});
afterAll(async () => {
  await app?.stop();
  await closed?.stop();
});

describe('the start page', () => {
  it('is a page for a browser and JSON for a program, without a token', async () => {
    const page = await app.request<string>('GET', '/', browser);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('vary')).toMatch(/\bAccept\b/);
    expect(page.body).toMatch(/^<!doctype html>\n<html lang="en">/);
    for (const options of [{}, { headers: { accept: 'application/json' } }]) {
      const program = await app.request('GET', '/', { token: null, ...options });
      expect(program).toMatchObject({
        status: 200,
        body: {
          graphql: '/graphql',
          rest: '/v1',
          docs: '/v1/docs',
          openapi: '/v1/openapi.json',
          readiness: '/readyz',
        },
      });
    }
  });

  it('has no broken links', async () => {
    const { body } = await app.request<string>('GET', '/', browser);
    const paths = [...new Set(linksOf(body).map((path) => new URL(path, app.url).pathname))];
    expect(paths).toEqual(expect.arrayContaining(['/v1/docs', '/v1/openapi.json', '/health', '/readyz']));
    for (const path of paths) {
      expect([path, (await app.request('GET', path, browser)).status]).toEqual([path, 200]);
    }
  });

  it('links to GraphiQL with queries that answer, the dashboard first', async () => {
    const { body } = await app.request<string>('GET', '/', browser);
    const queries = linksOf(body).flatMap((path) => new URL(path, app.url).searchParams.getAll('query'));
    expect(queries[0]).toContain('query Dashboard');
    expect(queries).toHaveLength(11);
    for (const query of queries) expect((await app.graphql(query)).body.errors).toBeUndefined();
  });

  it('shows commands that work when they are pasted', async () => {
    const { body } = await app.request<string>('GET', '/', browser);
    const commands = codeOf(body).filter((command) => command.startsWith('curl '));
    expect(commands).toHaveLength(2);
    for (const command of commands) {
      const env = { PATH: process.env['PATH'] ?? '', TOKEN: app.token };
      const { stdout } = await promisify(execFile)('bash', ['-c', command], { env });
      expect(Object.keys(JSON.parse(stdout) as object)).not.toContain('code');
      expect(JSON.parse(stdout)).not.toHaveProperty('errors');
    }
  });

  it('escapes the host that a client sends', async () => {
    const { port } = new URL(app.url);
    const options = ['-s', '-H', 'Host: "><script>alert(1)</script>', '-H', 'Accept: text/html'];
    const { stdout } = await promisify(execFile)('curl', [...options, `http://127.0.0.1:${port}/`]);
    expect(stdout).not.toContain('<script>alert');
  });
});

describe('pages and what they load', () => {
  it.each([
    '/',
    '/v1/docs',
    '/dashboard',
    '/board',
    '/board/WEB',
    '/issues/WEB-1',
    '/projects/WEB',
    '/schema',
    '/schema/Issue',
  ])('%s may run and load only files of this server, and nothing inline', async (path) => {
    const { headers, body } = await app.request<string>('GET', path, browser);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain('unsafe');
    for (const name of ['<title>', 'name="viewport"', 'name="description"', 'name="color-scheme"']) {
      expect(body).toContain(name);
    }
    expect(body).not.toMatch(/<script>|<style|\son\w+=|\sstyle=/);
    // All pages call it GraphiQL. Only the setting calls GraphiQL and the other pages together the explorer.
    expect(body).toMatch(/<a href="\/graphql"[^>]*>GraphiQL<\/a>/);
    expect(body).not.toMatch(/explorer/i);
    const loaded = [...body.matchAll(/(?:src|href)="(\/[^"?]*\/assets\/[^"]+|\/assets\/[^"]+)"/g)];
    expect(loaded.length).toBeGreaterThan(2);
    for (const [, asset = ''] of loaded) expect((await app.request('GET', asset)).status).toBe(200);
  });

  it('answers a file with its type, compressed, and with 304 to a client that has it', async () => {
    const file = '/v1/docs/assets/swagger-ui.js';
    const answer = await app.request<string>('GET', file, { token: null });
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(answer.headers.get('content-encoding')).toMatch(/^(gzip|br)$/);
    const tag = answer.headers.get('etag') ?? '';
    const again = await app.request('GET', file, { token: null, headers: { 'if-none-match': tag } });
    expect(again).toMatchObject({ status: 304, body: '' });
    const plain = await app.request<string>('GET', file, { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(plain.body).toBe(answer.body);
  });

  it('answers HEAD and OPTIONS, and refuses POST with 405', async () => {
    expect(await app.request('HEAD', '/', browser)).toMatchObject({ status: 200, body: '' });
    const options = await app.request('OPTIONS', '/v1/docs', { token: null });
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
    const posted = await app.request('POST', '/v1/docs', { body: {} });
    expect(posted).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
    expect(posted.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  it.each([
    '/v1/docs/',
    '/assets/',
    '/assets/../config.ts',
    '/v1/docs/assets/package.json',
    '/assets/%2e%2e',
  ])('answers %s with 404', async (path) => {
    expect((await raw(path)).split('\r\n')[0]).toBe('HTTP/1.1 404 Not Found');
  });
});

describe('the pages of the schema', () => {
  const read = async (path: string) => (await app.request<string>('GET', path, browser)).body;

  it('describe every type, and link only to types and fields that exist', async () => {
    const { types } = (
      await app.graphql<{ __schema: Described }>(
        '{ __schema { types { name description fields { name } inputFields { name } enumValues { name } } } }',
      )
    ).body.data?.__schema ?? { types: [] };
    const shown = types.filter(({ name }) => !/^(__|ID$|String$|Int$|Float$|Boolean$)/.test(name));
    const index = linksOf(await read('/schema'));
    expect(index.filter((path) => path.startsWith('/schema/')).toSorted()).toEqual(
      shown.map(({ name }) => `/schema/${name}`).toSorted(),
    );
    const anchors = new Set(
      shown.flatMap(({ name, fields, inputFields, enumValues }) =>
        [fields, inputFields, enumValues].flatMap((members) =>
          (members ?? []).map((member) => `/schema/${name}#${member.name}`),
        ),
      ),
    );
    for (const { name, description } of shown) {
      const page = await read(`/schema/${name}`);
      expect(unescapeHtml(page).replace(/<[^>]*>/g, '')).toContain(description?.replaceAll('`', '') ?? '');
      for (const path of linksOf(page).filter((path) => path.includes('#') && path.startsWith('/schema')))
        expect(anchors).toContain(path);
      for (const anchor of [...anchors].filter((path) => path.startsWith(`/schema/${name}#`)))
        expect(page).toContain(`id="${anchor.split('#')[1]}"`);
    }
  });

  it('name the scope and the cost of a field, and the routes that use a type', async () => {
    const page = await read('/schema/Issue');
    const field = (name: string) =>
      /<p class="facts">(.*?)<\/p>/.exec(page.split(`id="${name}"`)[1] ?? '')?.[1];
    expect(field('comments')).toContain('Scope: <code>issues:read</code>');
    expect(field('comments')).toContain('Cost: <code>first</code>, by default 50');
    expect(field('labels')).toContain('Cost: 5, whatever it holds');
    expect(field('title')).toContain('Cost: free');
    expect(page).toContain('<a href="/v1/docs#/issues/issue"><code>GET /v1/issues/{issueKey}</code></a>');
    expect(await read('/schema/Health')).toContain('GET /healthz');
    expect(await read('/schema/IssueStats')).toContain('Scope: none of its own');
  });

  it('exist only if everybody may read the schema', async () => {
    const guarded = await startApp({ sharesDatabase: true, settings: { INTROSPECTION: 'tokens' } });
    for (const path of ['/schema', '/schema/Issue'])
      expect(await guarded.request('GET', path, browser)).toMatchObject({
        status: 404,
        body: expect.stringContaining('The schema is not public'),
      });
    await guarded.stop();
  });
});

interface Named {
  name: string;
}

interface Described {
  types: (Named & { description: string | null } & Record<
      'fields' | 'inputFields' | 'enumValues',
      Named[] | null
    >)[];
}

describe('an address without a page', () => {
  const at = (server: Pick<App, 'request'>, path: string, accept = browser.headers.accept) =>
    server.request<string>('GET', path, { token: null, headers: { accept } });

  it('is answered with a page for a browser, and with a problem for a program and below /v1', async () => {
    const page = await at(app, '/somewhere/else');
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.body).toContain('There is nothing here');
    for (const answer of [
      await at(app, '/somewhere/else', 'application/json'),
      await at(app, '/v1/somewhere'),
      await at(app, '/assets/app/nothing.js'),
      await at(closed, '/somewhere/else'),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
  });
});

describe('EXPLORER=off', () => {
  it.each([
    '/v1/docs',
    '/v1/docs/assets/swagger-ui.js',
    '/issues/ENG-1',
    '/projects/WEB',
    '/schema/Issue',
    '/dashboard',
    '/board',
    '/board/WEB',
    '/assets/app/board.js',
    '/assets/lit-html/lit-html.js',
  ])('removes %s', async (path) => {
    expect(await closed.request('GET', path, browser)).toMatchObject({ status: 404 });
  });

  it('removes GraphiQL and leaves the graph', async () => {
    const page = await closed.request<string>('GET', '/graphql', browser);
    expect(page.headers.get('content-type')).toContain('json');
    expect((await closed.graphql('{ health { status } }')).body.errors).toBeUndefined();
  });

  it('leaves a start page without links to either', async () => {
    const { status, body } = await closed.request<string>('GET', '/', browser);
    expect(status).toBe(200);
    expect(body).not.toMatch(/GraphiQL|\/v1\/docs|href="\/graphql|\/board|Sign out/);
    expect(linksOf(body)).toContain('/v1/openapi.json');
    const program = await closed.request<object>('GET', '/', { token: null });
    expect(Object.keys(program.body)).not.toContain('docs');
  });
});

/** The paths of this server that a page links to. */
function linksOf(html: string): string[] {
  const links = [...html.matchAll(/<a [^>]*href="(\/[^"]*)"/g)].map(([, path = '']) => unescapeHtml(path));
  return [...new Set(links)];
}

function codeOf(html: string): string[] {
  return [...html.matchAll(/<pre><code>([^<]*)<\/code>/g)].map(([, text = '']) => unescapeHtml(text));
}

function unescapeHtml(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}

/** Requests the path unchanged; `fetch` would resolve its dots. */
async function raw(path: string): Promise<string> {
  const options = ['-s', '-i', '--path-as-is', '-H', 'Accept: text/html', `${app.url}${path}`];
  return (await promisify(execFile)('curl', options)).stdout;
}
