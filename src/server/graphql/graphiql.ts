import type { HttpReply } from '../../rest-compat/http-reply.ts';
import { tokenPlaceholder } from '../authenticate.ts';
import { contentSecurityPolicy } from '../pages/content-security.ts';
import { once } from '../pages/once.ts';
import { navigationBar } from '../pages/shell.ts';
import { iconPath } from '../pages/shared-assets.ts';
import { staticFile, staticReply } from '../pages/static-file.ts';
import { dashboardQuery } from '../pages/worked-queries.ts';

/** The page of GraphiQL. It loads nothing from other hosts, which its content security policy enforces. */
export async function graphiqlReply(): Promise<HttpReply> {
  return staticReply(await page(), {
    'Content-Security-Policy': graphiqlPolicy,
    Vary: 'Accept',
  });
}

/** Created with the first request, because it has nine megabytes. */
const page = once(async () => {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const { document } = await dashboardQuery();
  const html = renderGraphiQL({
    title: 'workgraph – GraphiQL',
    favicon: iconPath,
    endpoint: '/graphql',
    defaultQuery: `${hint}\n${document}`,
    defaultHeaders: tokenTemplate,
    headers: tokenTemplate,
    defaultEditorToolsVisibility: 'headers',
    // A token that is entered into the page stays in that tab (`assets/graphiql.js`).
    shouldPersistHeaders: true,
  });
  const completed = html
    .replace(charset, charset + additionalHead)
    .replace(body, body + additionalBody)
    .replace(root, `<main><h1>GraphiQL</h1>${root}</main>`);
  return staticFile('text/html; charset=utf-8', Buffer.from(completed));
});

const hint =
  '# Ctrl-Enter runs this, with the token of the tab\n# or one that is put under "Headers", below.\n#';

const tokenTemplate = JSON.stringify({ Authorization: tokenPlaceholder }, null, 2);

const charset = '<meta charset="utf-8" />';

/** Additions to the head: the width of a phone, a description, our stylesheet, and the token of the tab. */
const additionalHead = `
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="description" content="Ask the graph of this workgraph server, with its whole schema described." />
      <meta name="color-scheme" content="light dark" />
      <link rel="stylesheet" href="/assets/page.css" />
      <script src="/assets/app/session.js" type="module"></script>
      <script src="/assets/graphiql.js"></script>`;

const history = `<details class="history">
        <summary>History</summary>
        <div><p>Nothing has been run in this tab yet.</p><ol></ol></div>
      </details>`;
/** Shown when the server refuses a request because it has no valid token. */
const signInForm = `<form class="sign-in" hidden>
        <p role="alert">This needs an access token that the server knows: <code>npm start</code> prints that of the demo, and
        <code>npx workgraph token create</code> makes another.</p>
        <label for="token">Access token</label>
        <input id="token" name="token" type="password" autocomplete="off" spellcheck="false" placeholder="wg_…" required />
        <button class="button primary">Sign in</button>
      </form>`;

/** Our stylesheet comes after that of GraphiQL and overrides it; the navigation bar comes before the page. */
const additionalBody = `<link rel="stylesheet" href="/assets/graphiql.css" />
      ${navigationBar('/graphql', true, `${history}<button type="button" class="sign-out" hidden>Sign out</button>`)}
      ${signInForm}`;

const root = '<div id="root"></div>';

const body = '<body id="body" class="no-focus-outline">';

/** The page is one inline script with its workers in blobs. */
const graphiqlPolicy = contentSecurityPolicy({
  'script-src': "'self' 'unsafe-inline' blob:",
  'worker-src': 'blob:',
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data:",
  'font-src': 'data:',
});
