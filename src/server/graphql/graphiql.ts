import type { RestReply } from '../../rest-compat/face.ts';
import { tokenPlaceholder } from '../authenticate.ts';
import { contentSecurityPolicy } from '../pages/content-security.ts';
import { once } from '../pages/once.ts';
import { iconPath } from '../pages/shared-assets.ts';
import { staticFile, staticReply } from '../pages/static-file.ts';
import { dashboardQuery } from '../pages/worked-queries.ts';
import type { ServerRequest } from '../http/request.ts';

/** The page of GraphiQL. It loads nothing from other hosts, which its content security policy enforces. */
export async function graphiqlReply(request: ServerRequest): Promise<RestReply> {
  return staticReply(request, await page(), {
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
    // A token that is entered into the page stays in that tab (`storageOfTheTab`).
    shouldPersistHeaders: true,
  });
  return staticFile(
    'text/html; charset=utf-8',
    Buffer.from(html.replace(charset, `${charset}${headOfOurs}`)),
  );
});

const hint =
  '# The token that `npm start` printed goes under "Headers", below. Ctrl-Enter runs the query.\n#';

const tokenTemplate = JSON.stringify({ Authorization: tokenPlaceholder }, null, 2);

const charset = '<meta charset="utf-8" />';

/**
 * GraphiQL stores everything in `localStorage`, where later users of the browser find it. This script stores it for the tab only,
 * and removes what earlier versions of the page have stored.
 */
const storageOfTheTab = `
      <script id="storage">
        for (const key of Object.keys(localStorage)) if (key.startsWith('graphiql:')) localStorage.removeItem(key);
        Object.defineProperty(window, 'localStorage', { value: sessionStorage });
      </script>`;

/** On a phone the answer is below the query. Next to it, it would be one character wide. */
const narrow = `
      <style>
        @media (max-width: 700px) {
          #graphiql-session { flex-direction: column !important; }
          #graphiql-session > .graphiql-horizontal-drag-bar, .graphiql-logo { display: none; }
        }
      </style>`;

/** What the page lacks: the width of a phone, a description, and colours until its own style is loaded. */
const headOfOurs = `${storageOfTheTab}
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="description" content="Ask the graph of this workgraph server, with its whole schema described." />
      <meta name="color-scheme" content="light dark" />${narrow}`;

/** The page is one inline script with its workers in blobs. */
const graphiqlPolicy = contentSecurityPolicy({
  'script-src': "'unsafe-inline' blob:",
  'worker-src': 'blob:',
  'style-src': "'unsafe-inline'",
  'img-src': "'self' data:",
  'font-src': 'data:',
});
