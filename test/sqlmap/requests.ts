import { table } from '../../src/rest-compat/table.ts';
import { graphTextInputs, restTextInputs, sampleFrom } from '../inputs/text-inputs.ts';
import type { Pool } from '../inputs/pool.ts';
import { wireOf } from '../inputs/rest-cases.ts';

/** A request as sqlmap reads it from a file: what stands before its one star is what sqlmap tries to break out of. */
export interface MarkedRequest {
  /** Its place, as a person would write it. */
  readonly name: string;
  readonly head: string;
  readonly body: string;
}

/**
 * One request for each place of both faces that takes a text, with something of the caller's own there and beside it only
 * what must be: what is wrong at another place would have every payload refused before the database hears of it.
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

/** These take what nobody else needs, the token of the run least of all. */
const isRemoval = /Delete|Revoke|^DELETE /;

function allRequests(pool: Pool): MarkedRequest[] {
  const sample = sampleFrom(pool);
  const graph = graphTextInputs(sample, 'each root').map(({ at, document, good }) => {
    const { query, variables } = document([`${good}*`]);
    return marked(at, 'POST', '/graphql', JSON.stringify({ query, variables }));
  });
  const rest = table.flatMap((route) =>
    restTextInputs(route, sample).map(({ at, given, good }) => {
      const { method, target, body } = wireOf(route, given(`${good}*`));
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
