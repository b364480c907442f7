import { pagePolicy } from './content-security.ts';
import { pageHtml } from './shell.ts';
import { type FileAnswer, ownAsset, pageAnswer } from './static-file.ts';

/** A page that reads the graph in the browser, with the token of its reader. The server sends the same file to everybody. */
interface View {
  /** The paths of the page. */
  readonly path: RegExp;
  /** Its module, `assets/app/NAME.js`, and its stylesheet, `assets/app/NAME.css`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The entry of the navigation. */
  readonly section: string;
  /** Stylesheets of other packages. */
  readonly styles?: readonly string[];
}

const views: readonly View[] = [
  {
    path: /^\/dashboard$/,
    name: 'dashboard',
    title: 'Dashboard',
    description: 'How work flows: throughput, cycle time, cumulative flow, deliveries and workload.',
    section: '/dashboard',
    styles: ['/assets/uplot/uplot.css'],
  },
  {
    path: /^\/board$/,
    name: 'boards',
    title: 'Boards',
    description: 'The teams of the workspace, and what each has open.',
    section: '/board',
  },
  {
    path: /^\/board\/[^/]+$/,
    name: 'board',
    title: 'Board',
    description: 'The issues of a team by status, kept up to date as they change.',
    section: '/board',
  },
];

/** The modules that several pages import. */
const sharedModules = [
  'session',
  'page',
  'graph',
  'live',
  'states',
  'query-panel',
  'format',
  'parts',
  'figure',
  'plot',
  'csv',
];

/** The files that the views load. */
export const viewFiles: readonly (readonly [path: string, answer: FileAnswer])[] = [
  ...[...sharedModules, ...views.map(({ name }) => name)].map(
    (name) => [`/assets/app/${name}.js`, ownAsset(`app/${name}.js`)] as const,
  ),
  ...['app', ...views.map(({ name }) => name)].map(
    (name) => [`/assets/app/${name}.css`, ownAsset(`app/${name}.css`)] as const,
  ),
];

const answers = views.map((view) => [view.path, viewAnswer(view)] as const);

/** The page at a path; undefined if it is none of the views. */
export function findView(path: string): FileAnswer | undefined {
  return answers.find(([pattern]) => pattern.test(path))?.[1];
}

function viewAnswer({ name, title, description, section, styles = [] }: View): FileAnswer {
  return pageAnswer(
    () =>
      pageHtml({
        title: `${title} – workgraph`,
        description,
        section,
        styles: ['/assets/app/app.css', ...styles, `/assets/app/${name}.css`],
        modules: [`/assets/app/${name}.js`],
        main: waiting,
        explorer: true,
      }),
    pagePolicy,
  );
}

const waiting = `<p class="waiting" role="status">Reading …</p>
      <noscript><p class="waiting">This page needs JavaScript. Programs read the same at <code>/graphql</code> and <code>/v1</code>.</p></noscript>`;
