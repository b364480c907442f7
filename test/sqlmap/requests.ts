import { routeTable } from '../../src/rest-compat/route-table.ts';
import { graphTextInputs, restTextInputs, sampleFrom } from '../inputs/text-inputs.ts';
import type { Pool } from '../inputs/pool.ts';
import { wireOf } from '../inputs/rest-cases.ts';

/** A request in sqlmap's file format. The single `*` marks the position that sqlmap attacks. */
export interface MarkedRequest {
  /** The readable name of the position. */
  readonly name: string;
  readonly head: string;
  readonly body: string;
}

/**
 * Builds one request for each text input of both APIs, with a valid value there and otherwise only required
 * values: an invalid value elsewhere would have every payload refused before it reaches the database.
 */
export function markedRequests(pool: Pool): MarkedRequest[] {
  const all = allRequests(pool);
  const spare = allRequests({
    ...pool,
    issueKey: pool.spareKey,
    attachment: pool.spareAttachment,
    token: pool.spareToken,
  });
  const ofIssues = allRequests({ ...pool, comment: pool.spareComment, link: pool.spareLink });
  return all.map((each, index) => {
    if (!isRemoval.test(each.name)) return each;
    const other = /comment|link/i.test(each.name) ? ofIssues : spare;
    return other[index] ?? each;
  });
}

/** Deletions get objects that no other request needs, and never the token of the run. */
const isRemoval = /Delete|Revoke|^DELETE /;

function allRequests(pool: Pool): MarkedRequest[] {
  const sample = sampleFrom(pool);
  const graph = graphTextInputs(sample, 'each root').map(({ at, document, good }) => {
    const { query, variables } = document([`${good}*`]);
    return marked(at, 'POST', '/graphql', JSON.stringify({ query, variables }));
  });
  const rest = routeTable.flatMap((route) =>
    restTextInputs(route, sample).map(({ at, buildRequest, good }) => {
      const { method, target, body } = wireOf(route, buildRequest(`${good}*`));
      return marked(at, method, target, body?.toString() ?? '');
    }),
  );
  return [...graph, ...rest];
}

function marked(name: string, method: string, target: string, body: string): MarkedRequest {
  const head = `${method} ${target} HTTP/1.1`;
  const stars = (head + body).split('*').length - 1;
  if (stars !== 1) throw new Error(`${name} has ${stars} stars.`);
  return { name, head, body };
}
