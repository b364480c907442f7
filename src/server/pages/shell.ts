import { escapeHtml } from './html.ts';

/** The values of the document that differ between pages. */
export interface PageValues {
  readonly title: string;
  readonly description: string;
  /** The path of the navigation entry for this page or for the section that contains it. */
  readonly section?: string | undefined;
  /** Paths of stylesheets, in addition to the one of all pages. */
  readonly styles: readonly string[];
  /** Paths of modules. */
  readonly modules: readonly string[];
  /** Paths of scripts that are not modules. They run after `session.js`, and before the modules. */
  readonly scripts?: readonly string[];
  /** The content of `<main>`, as HTML. */
  readonly main: string;
  /** Whether the content contains its own `<main>`. */
  readonly hasMain?: boolean;
  /** The content below `<main>`, as HTML. */
  readonly footer?: string;
  /** Whether the other pages exist, so that the navigation can link to them. */
  readonly explorer: boolean;
}

const sections = [
  ['/dashboard', 'Dashboard'],
  ['/board', 'Boards'],
  ['/graphql', 'GraphiQL'],
  ['/schema', 'Schema'],
  ['/v1/docs', 'Reference'],
] as const;

/** The bar at the top of every page; `more` is HTML that is appended to it. */
export function navigationBar(section: string | undefined, explorer: boolean, more: string): string {
  const entries = explorer ? sections : ([['/v1/openapi.json', 'OpenAPI']] as const);
  const links = entries.map(
    ([path, name]) => `<a href="${path}"${path === section ? ' aria-current="page"' : ''}>${name}</a>`,
  );
  return `<header class="bar">
      <a class="brand" href="/"${section === '/' ? ' aria-current="page"' : ''}><img src="/assets/icon.svg" alt="" width="28" height="28" />workgraph</a>
      <nav aria-label="Pages">
        ${links.join('\n        ')}
      </nav>
      ${more}
    </header>`;
}

/** The document of a page: head, navigation, and the content. It has no inline script and no inline style. */
export function pageHtml(values: PageValues): string {
  const { title, description, section, explorer, main, footer = '' } = values;
  const styles = ['/assets/page.css', ...values.styles];
  const scripts = values.scripts ?? [];
  const container = values.hasMain ? 'div' : 'main';
  const module = (path: string) => `<script src="${path}" type="module"></script>`;
  // It runs first, because scripts may move the token of the address into the history (as Swagger UI does).
  const session = explorer ? [module('/assets/app/session.js')] : [];
  const signOut = explorer ? '<button type="button" class="sign-out" hidden>Sign out</button>' : '';
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="description" content="${escapeHtml(description)}" />
    <title>${escapeHtml(title)}</title>
    <link rel="icon" href="/assets/icon.svg" type="image/svg+xml" />
    ${styles.map((path) => `<link rel="stylesheet" href="${path}" />`).join('\n    ')}
    ${[...session, ...scripts.map((path) => `<script src="${path}" defer></script>`), ...values.modules.map(module)].join('\n    ')}
  </head>
  <body>
    <a class="skip-link" href="#main">Skip to the content</a>
    ${navigationBar(section, explorer, signOut)}
    <${container} id="main" tabindex="-1">
      ${main}
    </${container}>
    ${footer}
  </body>
</html>
`;
}
