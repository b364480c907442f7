import { contentSecurityPolicy } from './content-security.ts';
import { documentIds, queryModules } from './page-documents.ts';
import { pageHtml } from './shell.ts';
import { type FileAnswer, ownAsset, pageAnswer } from './static-file.ts';

/**
 * A page that reads the graph in the browser, with the token of its user. The server sends the same file to all users.
 */
interface View {
  /** The paths of the page. People also type a slash at the end. */
  readonly path: RegExp;
  /** Its module, `assets/app/NAME.js`. */
  readonly module: string;
  /** Its stylesheets of `assets/app`. */
  readonly styles: readonly string[];
  readonly title: string;
  readonly description: string;
  /** The entry of the navigation. */
  readonly section?: string;
}

const views: readonly View[] = [
  {
    path: /^\/dashboard\/?$/,
    module: 'dashboard',
    styles: ['figure.css', 'dashboard.css'],
    title: 'Dashboard',
    description: 'How work flows: throughput, cycle time, cumulative flow, deliveries and workload.',
    section: '/dashboard',
  },
  {
    path: /^\/board\/?$/,
    module: 'boards',
    styles: ['boards.css'],
    title: 'Boards',
    description: 'The teams of the workspace, and what each has open.',
    section: '/board',
  },
  {
    path: /^\/board\/[^/]+\/?$/,
    module: 'board',
    styles: ['board.css'],
    title: 'Board',
    description: 'The issues of a team by status, kept up to date as they change.',
    section: '/board',
  },
  {
    path: /^\/issues\/[^/]+\/?$/,
    module: 'issue',
    styles: ['detail.css'],
    title: 'Issue',
    description: 'An issue with its fields, comments, sub-issues, attachments, activity and agent thread.',
  },
  {
    path: /^\/projects\/[^/]+\/?$/,
    module: 'project',
    styles: ['figure.css', 'detail.css'],
    title: 'Project',
    description: 'A project with its fields, its burnup and its issues.',
  },
];

/** The modules that views import. */
const sharedModules = [
  'session',
  'signed-out',
  'tabs',
  'address',
  'page',
  'graph',
  'live',
  'live-page',
  'states',
  'query-panel',
  'format',
  'elements',
  'figure',
  'plot',
  'csv',
  'text',
  'thread',
  'attachments',
  'dashboard-lists',
  'board-filters',
] as const;

/** The files that the views load. */
export const viewFiles: readonly (readonly [path: string, answer: FileAnswer])[] = [
  ['/assets/app/document-ids.js', documentIds],
  ...[
    ...[...sharedModules, ...queryModules].map((name) => `${name}.js` as const),
    ...views.map(({ module }) => `${module}.js` as const),
    ...new Set(['app.css', 'schema.css', ...views.flatMap(({ styles }) => styles)] as `${string}.css`[]),
  ].map((file) => [`/assets/app/${file}`, ownAsset(`app/${file}`)] as const),
];

/** Finds the page at a path. Previews of attachments may be loaded from a separate origin for files. */
export function createViews(filesUrl: string | undefined): (path: string) => FileAnswer | undefined {
  const sources = ["'self'", ...(filesUrl ? [new URL(filesUrl).origin] : [])].join(' ');
  const policy = contentSecurityPolicy({
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': sources,
    'connect-src': sources,
  });
  const answers = views.map((view) => [view.path, pageAnswer(() => viewHtml(view), policy)] as const);
  return (path) => answers.find(([pattern]) => pattern.test(path))?.[1];
}

function viewHtml({ module, styles, title, description, section }: View): string {
  return pageHtml({
    title: `${title} – workgraph`,
    description,
    section,
    styles: [
      '/assets/app/app.css',
      ...(styles.includes('figure.css') ? ['/assets/uplot/uplot.css'] : []),
      ...styles.map((file) => `/assets/app/${file}`),
    ],
    modules: [`/assets/app/${module}.js`],
    main: placeholder,
    explorer: true,
  });
}

const placeholder = `<p class="placeholder" role="status">Reading …</p>
      <noscript><p class="placeholder">This page needs JavaScript. Programs read the same at <code>/graphql</code> and <code>/v1</code>.</p></noscript>`;
