import { createRequire, findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { type FileAnswer, fileAnswer } from './static-file.ts';

const installed = createRequire(import.meta.url);

/** The folder of the browser build of `lit-html`. Node resolves its main entry to another build. */
const litHtmlFolder = dirname(findPackageJSON('lit-html', import.meta.url) ?? '');

/** The modules of other packages that pages import, at fixed paths. They import each other by relative paths. */
export const vendorPaths: readonly (readonly [path: string, answer: FileAnswer])[] = [
  ...[
    'lit-html.js',
    'directive.js',
    'directive-helpers.js',
    'directives/repeat.js',
    'directives/live.js',
  ].map((file) => [`/assets/lit-html/${file}`, fileAnswer(join(litHtmlFolder, file))] as const),
  ['/assets/uplot/uplot.js', fileAnswer(installed.resolve('uplot/dist/uPlot.esm.js'))],
  ['/assets/uplot/uplot.css', fileAnswer(installed.resolve('uplot/dist/uPlot.min.css'))],
];
