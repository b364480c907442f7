import type { GraphQLSchema } from 'graphql';
import type { HttpReply } from '../../rest-compat/http-reply.ts';
import { problemReply } from '../../rest-compat/problem.ts';
import { prefersHtml } from '../graphql/graphql-request.ts';
import { notFoundReply, isSchemaPath } from './not-found.ts';
import { startPageReply } from './start-page.ts';
import { referencePaths } from './reference.ts';
import { sharedPaths } from './shared-assets.ts';
import { vendorPaths } from './vendor.ts';
import { createSchemaViews } from './schema-views.ts';
import { createViews, viewFiles } from './views.ts';
import type { Introspection } from '../config.ts';
import { jsonReply } from '../http/reply.ts';
import type { ServerRequest } from '../http/request.ts';

/** The pages for people, with the files that they load: `/`, the reference, and the views of the graph. */
export interface Pages {
  /** Returns undefined for all other paths. */
  handle(request: ServerRequest): Promise<HttpReply | undefined>;
}

interface PagesOptions {
  /** Whether there are other pages than the start page, which then links to them. */
  readonly explorer: boolean;
  /** The origin of files, if they have one of their own. */
  readonly filesUrl?: string | undefined;
  /** Who may read the schema. Its pages need no token, so they exist only if it is public. */
  readonly introspection?: Introspection | undefined;
}

export function createPages(
  schema: GraphQLSchema,
  { explorer, filesUrl, introspection = 'public' }: PagesOptions,
): Pages {
  const files = new Map([
    ...sharedPaths,
    ...(explorer ? [...referencePaths, ...vendorPaths, ...viewFiles] : []),
  ]);
  const findView = explorer ? createViews(filesUrl) : () => undefined;
  const isSchemaPublic = introspection === 'public';
  let schemaViews: ReturnType<typeof createSchemaViews> | undefined;
  // Created with the first request, because they take a while to create and most servers never show them.
  const findSchemaView = (path: string) => {
    if (!isSchemaPath(path)) return undefined;
    schemaViews ??= createSchemaViews(schema);
    return schemaViews(path);
  };
  const find = (path: string): PageAnswer | undefined =>
    path === '/'
      ? (request) => start(request, explorer)
      : (files.get(path) ??
        findView(path) ??
        (explorer && isSchemaPublic ? findSchemaView(path) : undefined));
  return {
    async handle(request) {
      const { method, path, requestId } = request;
      const answer = find(path);
      const isRead = method === 'GET' || method === 'HEAD';
      if (answer && isRead) return answer(request);
      if (!answer)
        return explorer && isRead && wantsPage(request) ? notFoundReply(request, isSchemaPublic) : undefined;
      if (method === 'OPTIONS') return { status: 204, headers: { Allow: allow } };
      const message = `This path supports ${allow}.`;
      return problemReply({ code: 'method_not_allowed', message }, requestId, { Allow: allow });
    },
  };
}

/** Whether a browser should get a page for an unknown path. Paths such as `/v1` have answers for programs only. */
function wantsPage({ path, headers }: ServerRequest): boolean {
  return prefersHtml(headers.accept) && !/^\/(v1|files|assets)(\/|$)/.test(path);
}

type PageAnswer = (request: ServerRequest) => HttpReply | Promise<HttpReply>;

const allow = 'GET, HEAD, OPTIONS';

/** Returns a page to a browser, and the URLs as JSON to a program. */
function start(request: ServerRequest, explorer: boolean): HttpReply | Promise<HttpReply> {
  if (prefersHtml(request.headers.accept)) return startPageReply(request, explorer);
  const addresses = {
    graphql: '/graphql',
    rest: '/v1',
    ...(explorer && { docs: '/v1/docs' }),
    openapi: '/v1/openapi.json',
    health: '/health',
    readiness: '/readyz',
  };
  return jsonReply(200, addresses, { Vary: 'Accept' });
}
