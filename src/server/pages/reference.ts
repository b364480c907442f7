import { createRequire } from 'node:module';
import { contentSecurityPolicy } from './content-security.ts';
import { type FileAnswer, fileAnswer, ownAsset } from './static-file.ts';

const installed = createRequire(import.meta.url);

/** The page of the REST face and what it loads, all from here: Swagger UI with a look of our own over it. */
export const referencePaths: readonly (readonly [path: string, answer: FileAnswer])[] = [
  [
    '/v1/docs',
    ownAsset('reference.html', {
      'Content-Security-Policy': contentSecurityPolicy({
        'script-src': "'self'",
        'style-src': "'self'",
        // Swagger UI's own stylesheet draws with data.
        'img-src': "'self' data:",
      }),
    }),
  ],
  ['/v1/docs/assets/reference.css', ownAsset('reference.css')],
  ['/v1/docs/assets/reference.js', ownAsset('reference.js')],
  ['/v1/docs/assets/swagger-ui.css', fileAnswer(installed.resolve('swagger-ui-dist/swagger-ui.css'))],
  ['/v1/docs/assets/swagger-ui.js', fileAnswer(installed.resolve('swagger-ui-dist/swagger-ui-bundle.js'))],
];
