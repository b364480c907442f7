import { createRequire } from 'node:module';
import { contentSecurityPolicy } from './content-security.ts';
import { type FileAnswer, fileAnswer, ownAsset } from './static-file.ts';

const installed = createRequire(import.meta.url);

/** The API reference: Swagger UI with our own style. The page loads nothing from other hosts. */
export const referencePaths: readonly (readonly [path: string, answer: FileAnswer])[] = [
  [
    '/v1/docs',
    ownAsset('reference.html', {
      'Content-Security-Policy': contentSecurityPolicy({
        'script-src': "'self'",
        'style-src': "'self'",
        // The stylesheet of Swagger UI contains images as data URLs.
        'img-src': "'self' data:",
      }),
    }),
  ],
  ['/v1/docs/assets/reference.css', ownAsset('reference.css')],
  ['/v1/docs/assets/reference.js', ownAsset('reference.js')],
  ['/v1/docs/assets/swagger-ui.css', fileAnswer(installed.resolve('swagger-ui-dist/swagger-ui.css'))],
  ['/v1/docs/assets/swagger-ui.js', fileAnswer(installed.resolve('swagger-ui-dist/swagger-ui-bundle.js'))],
];
