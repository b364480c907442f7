import type { RestReply } from '../../rest-compat/face.ts';
import { problemReply } from '../../rest-compat/problem.ts';
import { prefersHtml } from '../graphql/graphql-request.ts';
import { issueQuery } from './issue-query.ts';
import { landingReply } from './landing.ts';
import { referencePaths } from './reference.ts';
import { sharedPaths } from './shared-assets.ts';
import { vendorPaths } from './vendor.ts';
import { findView, viewFiles } from './views.ts';
import { graphiqlPath } from './worked-queries.ts';
import { jsonReply } from '../http/reply.ts';
import type { ServerRequest } from '../http/request.ts';

/** The pages for people: `/`, the reference, and the links to GraphiQL. */
export interface Pages {
  /** Returns undefined for all other paths. */
  handle(request: ServerRequest): Promise<RestReply | undefined>;
}

/** If `explorer` is false, there is only the landing page, without links to the other pages. */
export function createPages({ explorer }: { explorer: boolean }): Pages {
  const files = new Map([
    ...sharedPaths,
    ...(explorer ? [...referencePaths, ...vendorPaths, ...viewFiles] : []),
  ]);
  const find = (path: string): PageAnswer | undefined => {
    if (path === '/') return (request) => start(request, explorer);
    const key = explorer && /^\/issues\/([a-z][a-z0-9]*-[1-9]\d{0,9})$/i.exec(path)?.[1];
    if (key) return () => redirect(graphiqlPath(issueQuery(key.toUpperCase())));
    return files.get(path) ?? (explorer ? findView(path) : undefined);
  };
  return {
    async handle(request) {
      const { method, path, requestId } = request;
      const answer = find(path);
      if (!answer || method === 'GET' || method === 'HEAD') return answer?.(request);
      if (method === 'OPTIONS') return { status: 204, headers: { Allow: allow } };
      const message = `This path supports ${allow}.`;
      return problemReply({ code: 'method_not_allowed', message }, requestId, { Allow: allow });
    },
  };
}

type PageAnswer = (request: ServerRequest) => RestReply | Promise<RestReply>;

const allow = 'GET, HEAD, OPTIONS';

/** Returns a page to a browser, and the URLs as JSON to a program. */
function start(request: ServerRequest, explorer: boolean): RestReply | Promise<RestReply> {
  if (prefersHtml(request.headers.accept)) return landingReply(request, explorer);
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

function redirect(location: string): RestReply {
  return { status: 302, headers: { Location: location } };
}
