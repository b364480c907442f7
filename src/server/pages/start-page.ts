import type { HttpReply } from '../../rest-compat/http-reply.ts';
import type { ServerRequest } from '../http/request.ts';
import { pagePolicy } from './content-security.ts';
import { descriptionHtml, escapeHtml } from './html.ts';
import { pageHtml } from './shell.ts';
import { graphiqlPath, type WorkedQuery, workedQueries } from './worked-queries.ts';

/** The page at `/`, which introduces the service to a new user and shows the first steps. */
export async function startPageReply({ origin }: ServerRequest, explorer: boolean): Promise<HttpReply> {
  const body = startPage(origin, explorer ? await workedQueries() : []);
  return { status: 200, headers, body };
}

const headers = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': pagePolicy,
  Vary: 'Accept',
};

/** Without the explorer there are no queries and no other pages, so the page has no links to them. */
function startPage(origin: string, queries: readonly WorkedQuery[]): string {
  const explorer = queries.length > 0;
  const dashboard = queries.find(({ name }) => name === 'dashboard');
  const graphiql = dashboard ? graphiqlPath(dashboard.document) : '/graphql';
  return pageHtml({
    title: 'workgraph',
    description:
      'A work-tracking service with two APIs: a GraphQL gateway and a REST layer over the same operations.',
    section: '/',
    styles: ['/assets/start-page.css'],
    modules: ['/assets/start-page.js'],
    explorer,
    footer: `<footer class="page-footer">A program that asks for <code>application/json</code> here gets these addresses as JSON.</footer>`,
    main: `<section class="hero">
        <h1>One graph of work, <span>two ways to ask.</span></h1>
        <p class="lead">
          This server keeps issues with their comments, links, attachments and activity, and the directories of teams,
          projects and members around them. Ask it in GraphQL, or over REST: every REST endpoint is a named operation on
          the same graph.
        </p>
        <div class="actions">
          ${
            explorer
              ? `<a class="button primary" href="/dashboard">Open the dashboard</a>
          <a class="button" href="/board">Look at the boards</a>
          <a class="button" href="${escapeHtml(graphiql)}">Ask in GraphiQL</a>
          <a class="button" href="/v1/docs">Browse the REST reference</a>`
              : `<a class="button primary" href="/v1/openapi.json">Read the OpenAPI file</a>`
          }
        </div>
        <p class="state"><a href="/readyz" data-readiness>Is it ready?</a></p>
      </section>

      <section aria-labelledby="token">
        <h2 id="token"><span class="step-number">1</span>Get a token</h2>
        <p>
          Everything but the pages and probes needs an access token, which stands for one member of one workspace${explorer ? '; a page asks for it once' : ''}. The
          demo workspace has one in the data directory of the server:
        </p>
        ${codeBlock('TOKEN=$(cat .workgraph/demo-token)')}
        <p>
          For a program of your own, on the machine that the server runs on; <code>--member</code> names another member by
          e-mail address or name:
        </p>
        ${codeBlock('npx workgraph token create --scopes issues:read,teams:read')}
        <p>A server without the demo needs a workspace first. This makes one, and prints the token of its owner:</p>
        ${codeBlock('npx workgraph workspace create --name Acme --owner Ada')}
      </section>

      <section aria-labelledby="ask">
        <h2 id="ask"><span class="step-number">2</span>Ask for something</h2>
        <div class="apis">
          <article>
            <h3>GraphQL</h3>
            <p>One request for all that a screen shows: connections, filters and totals at any depth.</p>
            ${codeBlock(graphqlCommand(origin))}
            <p class="more">${explorer ? link(graphiql, 'Try it in GraphiQL') : '<code>POST /graphql</code>'}</p>
          </article>
          <article>
            <h3>REST</h3>
            <p>Plain resources under <code>/v1</code>, with cursor pages, problem details and health probes.</p>
            ${codeBlock(restCommand(origin))}
            <p class="more">${explorer ? link('/v1/docs', 'Try it in the reference') : link('/v1/openapi.json', 'Read the OpenAPI file')}</p>
          </article>
        </div>
      </section>
${explorer ? workedSection(queries) : ''}
      <section aria-labelledby="addresses">
        <h2 id="addresses">Addresses</h2>
        <dl class="addresses">
          ${address('/graphql', explorer ? 'The graph; in a browser, GraphiQL' : 'The graph', explorer)}
          ${address('/v1', 'The REST API: all of its paths begin with this', false)}
          ${explorer ? address('/v1/docs', 'Its reference, with requests to try') : ''}
          ${address('/v1/openapi.json', 'Its description for programs, OpenAPI 3.1')}
          ${address('/v1/meta/codes', 'What the values of codes mean')}
          ${address('/health', 'Does the process answer?')}
          ${address('/readyz', 'Does the database?')}
        </dl>
      </section>`,
  });
}

function workedSection(queries: readonly WorkedQuery[]): string {
  const items = queries.map(
    ({ name, purpose, document }) =>
      `<li><a href="${escapeHtml(graphiqlPath(document))}"><strong>${escapeHtml(name)}</strong> <span>${descriptionHtml(purpose)}</span></a></li>`,
  );
  return `
      <section aria-labelledby="queries">
        <h2 id="queries"><span class="step-number">3</span>Start from a query that works</h2>
        <p>Each opens in GraphiQL. They work unchanged on the demo workspace.</p>
        <ul class="queries">
          ${items.join('\n          ')}
        </ul>
      </section>`;
}

function graphqlCommand(origin: string): string {
  const query = '{ viewer { member { displayName } } teams(first: 3) { nodes { code name } } }';
  return `curl -s ${origin}/graphql \\
  -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify({ query })}'`;
}

function restCommand(origin: string): string {
  return `curl -s -G ${origin}/v1/issues \\
  -d status_category=active -d sort=priority \\
  -d page_size=3 \\
  -H "Authorization: Bearer $TOKEN"`;
}

function codeBlock(text: string): string {
  return `<div class="code"><pre><code>${escapeHtml(text)}</code></pre></div>`;
}

function link(path: string, text: string): string {
  return `<a href="${escapeHtml(path)}">${text}</a>`;
}

function address(path: string, meaning: string, isLink = true): string {
  const name = `<code>${path}</code>`;
  return `<div><dt>${isLink ? link(path, name) : name}</dt><dd>${meaning}</dd></div>`;
}
