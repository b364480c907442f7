import type { HttpReply } from '../../rest-compat/http-reply.ts';
import type { ServerRequest } from '../http/request.ts';
import { pagePolicy } from './content-security.ts';
import { pageHtml } from './shell.ts';
import { pageAnswer } from './static-file.ts';

/** The page that a browser gets with 404, with links to other pages. */
export async function notFoundReply(request: ServerRequest, isSchemaPublic: boolean): Promise<HttpReply> {
  const answer = !isSchemaPublic && isSchemaPath(request.path) ? schemaIsClosed : nothingHere;
  return { ...(await answer(request)), status: 404 };
}

/** Whether the path is one of the pages of the schema. */
export function isSchemaPath(path: string): boolean {
  return /^\/schema(\/|$)/.test(path);
}

const nothingHere = notFoundPage(
  'Nothing here',
  'There is nothing at this address.',
  `<h1>There is nothing here</h1>
        <p>No page has this address. It may have been typed wrong, or what it led to has moved.</p>`,
);

const schemaIsClosed = notFoundPage(
  'No schema here',
  'The schema of this server is not public.',
  `<h1>The schema is not public</h1>
        <p>This server shows its schema only to callers with an access token, or to nobody, as its setting
        <code>INTROSPECTION</code> says. With a token, <a href="/graphql">GraphiQL</a> shows it beside a query if the
        server allows that.</p>`,
);

function notFoundPage(title: string, description: string, message: string) {
  return pageAnswer(
    () =>
      pageHtml({
        title: `${title} – workgraph`,
        description,
        styles: ['/assets/app/app.css'],
        modules: [],
        explorer: true,
        main: `<section class="problem">
        ${message}
        <p class="actions"><a class="button primary" href="/dashboard">Dashboard</a> <a class="button" href="/board">Boards</a> <a class="button" href="/">Start page</a></p>
      </section>`,
      }),
    pagePolicy,
  );
}
