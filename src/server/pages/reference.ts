import { createRequire } from 'node:module';
import { contentSecurityPolicy } from './content-security.ts';
import { pageHtml } from './shell.ts';
import { type FileAnswer, fileAnswer, ownAsset, pageAnswer } from './static-file.ts';

const installed = createRequire(import.meta.url);

const page = pageAnswer(
  () =>
    pageHtml({
      title: 'workgraph – REST reference',
      description: 'Every endpoint of the REST layer of workgraph, with requests to try.',
      section: '/v1/docs',
      styles: ['/v1/docs/assets/reference.css'],
      scripts: ['/v1/docs/assets/swagger-ui.js', '/v1/docs/assets/reference.js'],
      modules: [],
      explorer: true,
      hasMain: true,
      main: `<div id="reference">
        <p class="placeholder">Reading the reference …</p>
        <noscript><p class="placeholder">This page needs JavaScript; <a href="/v1/openapi.json">the file that it shows</a> does not.</p></noscript>
      </div>`,
    }),
  contentSecurityPolicy({
    'script-src': "'self'",
    'style-src': "'self'",
    // The stylesheet of Swagger UI contains images as data URLs.
    'img-src': "'self' data:",
  }),
);

/** The API reference: Swagger UI with our own style. The page loads nothing from other hosts. */
export const referencePaths: readonly (readonly [path: string, answer: FileAnswer])[] = [
  ['/v1/docs', page],
  ['/v1/docs/assets/reference.css', ownAsset('reference.css')],
  ['/v1/docs/assets/reference.js', ownAsset('reference.js')],
  ['/v1/docs/assets/swagger-ui.css', fileAnswer(installed.resolve('swagger-ui-dist/swagger-ui.css'))],
  ['/v1/docs/assets/swagger-ui.js', fileAnswer(installed.resolve('swagger-ui-dist/swagger-ui-bundle.js'))],
];
