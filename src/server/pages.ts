import type { RestReply } from '../rest-compat/face.ts';
import { prefersHtml } from './graphql-request.ts';
import { jsonReply } from './reply.ts';
import type { ServerRequest } from './request.ts';

/** The paths that lead a person on; undefined for all others. */
export function pageReply(request: ServerRequest): RestReply | undefined {
  if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
  if (request.path === '/') {
    return prefersHtml(request.headers.accept) ? redirect('/graphql') : jsonReply(200, start);
  }
  const key = /^\/issues\/([a-z][a-z0-9]*-[1-9]\d{0,9})$/i.exec(request.path)?.[1];
  return key === undefined
    ? undefined
    : redirect(`/graphql?query=${encodeURIComponent(issueQuery(key.toUpperCase()))}`);
}

const start = { graphql: '/graphql', rest: '/v1', docs: '/v1/docs', health: '/health', readiness: '/readyz' };

function redirect(location: string): RestReply {
  return { status: 302, headers: { Location: location } };
}

/** What GraphiQL opens with at an issue's address. */
function issueQuery(key: string): string {
  return `query Issue {
  issue(key: "${key}") {
    key title description priority dueDate
    status { name category }
    team { name }
    project { name }
    primaryAssignee { displayName }
    labels { name }
    comments(first: 20) { nodes { bodyText createdUtc author { displayName } } }
  }
}
`;
}
