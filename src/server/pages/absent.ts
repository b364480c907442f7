import type { HttpReply } from '../../rest-compat/http-reply.ts';
import type { ServerRequest } from '../http/request.ts';
import { pagePolicy } from './content-security.ts';
import { pageHtml } from './shell.ts';
import { pageAnswer } from './static-file.ts';

/** The page for browsers at an unknown path, with links to other pages. */
export async function absentReply(request: ServerRequest): Promise<HttpReply> {
  return { ...(await page(request)), status: 404 };
}

const page = pageAnswer(
  () =>
    pageHtml({
      title: 'Nothing here – workgraph',
      description: 'There is nothing at this address.',
      styles: ['/assets/app/app.css'],
      modules: [],
      explorer: true,
      main: `<section class="problem">
        <h1>There is nothing here</h1>
        <p>No page has this address. It may have been typed wrong, or what it led to has moved.</p>
        <p><a class="button primary" href="/dashboard">Dashboard</a> <a class="button" href="/board">Boards</a> <a class="button" href="/">Start page</a></p>
      </section>`,
    }),
  pagePolicy,
);
