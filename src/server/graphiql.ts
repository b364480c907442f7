import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RestReply } from '../rest-compat/face.ts';
import { tokenPlaceholder } from './authenticate.ts';
import type { ServerRequest } from './request.ts';

/** The page of GraphiQL, whole: it asks no other host for anything, and the browser holds it to that. */
export async function graphiqlReply(request: ServerRequest): Promise<RestReply> {
  page ??= makePage();
  const { html, zipped, tag } = await page;
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': contentSecurityPolicy,
    // Ten megabytes, so they are kept, and asked for again with the tag.
    'Cache-Control': 'no-cache',
    ETag: tag,
    Vary: 'Accept, Accept-Encoding',
  };
  if (request.headers['if-none-match'] === tag) return { status: 304, headers };
  const takesGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  return takesGzip
    ? { status: 200, headers: { ...headers, 'Content-Encoding': 'gzip' }, body: zipped }
    : { status: 200, headers, body: html };
}

interface Page {
  html: Buffer;
  zipped: Buffer;
  tag: string;
}

let page: Promise<Page> | undefined;

/** Made when it is first asked for: most servers never are. */
async function makePage(): Promise<Page> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const dashboard = await readFile(join(import.meta.dirname, 'dashboard.graphql'), 'utf8');
  const html = Buffer.from(
    renderGraphiQL({
      title: 'workgraph',
      endpoint: '/graphql',
      defaultQuery: dashboard,
      defaultHeaders: tokenTemplate,
      headers: tokenTemplate,
      defaultEditorToolsVisibility: 'headers',
      // A token typed into the page stays in that browser.
      shouldPersistHeaders: true,
    }),
  );
  const zipped = await promisify(gzip)(html);
  return { html, zipped, tag: `"${createHash('sha256').update(html).digest('base64url').slice(0, 20)}"` };
}

const tokenTemplate = JSON.stringify({ Authorization: tokenPlaceholder }, null, 2);

/** The page is one inline script with its workers in blobs. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'unsafe-inline' blob:",
  'worker-src blob:',
  "style-src 'unsafe-inline'",
  'img-src data:',
  'font-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
