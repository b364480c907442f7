import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { OperationTypeNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Prepared } from '../../db/statements/prepared.ts';
import { selectDataPosition } from '../../db/reads/data-position.ts';
import { readsCoveredTables } from '../../db/tables/position-tables.ts';
import type { Context, Principal } from '../../resolvers/context.ts';
import { extensionsOf } from '../../schema/builder/output-extensions.ts';
import { dependenciesOf } from '../../schema/builder/plan.ts';
import { isOutage } from './errors.ts';
import type { CoercedOperation } from '../selections/operation.ts';
import { visitFields } from '../selections/selected-fields.ts';
import { perVariant } from '../selections/variants.ts';

/**
 * Whether an answer can depend on nothing but rows, the token, the document and today's date. The statements then show which rows
 * those are. Other resolvers may read anything, and what is computed from the request's context depends on the clock or is
 * signed.
 */
const dependsOnlyOnRows = perVariant((coerced: CoercedOperation) => {
  let dependsOnOthers = coerced.operation.operation !== OperationTypeNode.QUERY;
  visitFields(coerced, ({ field }) => {
    const { plan, isCoveredByPosition } = extensionsOf(field);
    if (isCoveredByPosition) return;
    if (plan && dependenciesOf(plan).dependsOnContext) dependsOnOthers = true;
  });
  return !dependsOnOthers;
});

/** Whether an operation sent statements when it was last run. One that did not is answered faster than its position is read. */
const lastRun = perVariant<CoercedOperation, { sentStatements: boolean }>(() => ({ sentStatements: true }));

/**
 * Reads the position of the data before the query is run, on the server that will answer it. Undefined where the position would not
 * cover the answer: the version of the reference data must be the one in memory, from which a part of the answer comes.
 */
export async function positionBefore(
  coerced: CoercedOperation,
  { principal, connect, shared, replica, reference, now }: Context,
): Promise<string | undefined> {
  if (!principal || !connect || !reference) return undefined;
  if (!dependsOnlyOnRows(coerced) || !lastRun(coerced).sentStatements) return undefined;
  const { version } = await reference.current();
  try {
    const server = replica
      ? { connect: () => replica.connect(), shared: (statement: Prepared) => replica.shared(statement) }
      : { connect, shared };
    const found = await selectDataPosition(server, principal.workspaceId);
    if (!found || found.ref !== version.ref || found.tag !== version.tag) return undefined;
    const date = now.toISOString().slice(0, 10);
    return `${date} ${found.ref}.${found.tag}.${found.change}`;
  } catch (error) {
    // The query is sent to the primary where a replica fails, and has the error of the primary.
    if (isOutage(error)) return undefined;
    throw error;
  }
}

/** Notes with which statements an operation was run, which decides whether its position is read the next time. */
export function noteRun(coerced: CoercedOperation, statements: ReadonlySet<Prepared>): void {
  lastRun(coerced).sentStatements = statements.size > 0;
}

/** Whether the position covers everything that these statements have read. */
export function isCovered(statements: ReadonlySet<Prepared>): boolean {
  for (const statement of statements) {
    const known = covered.get(statement);
    const reads = known ?? readsCoveredTables(statement.text);
    if (known === undefined) covered.set(statement, reads);
    if (!reads) return false;
  }
  return true;
}

const covered = new WeakMap<Prepared, boolean>();

/** A request for which a client may have an answer. */
interface ReadRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly origin: string;
  /** Whether the client has this answer to the request, by its If-None-Match. */
  hasAnswer(answer: EarlierAnswer): boolean;
}

/** An earlier answer: its headers, including its tag, and the length of its body. */
export interface EarlierAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: number;
}

interface RememberedAnswer extends EarlierAnswer {
  readonly position: string;
  readonly answeredMs: number;
}

/** How long an answer counts as unchanged at the same position, in case the database is written to without the service. */
const trustedMs = 60_000;

/** The maximum number of characters in all remembered answers together, which suffices for about ten thousand. */
const maxCharacters = 5_000_000;

/** Remembers the positions of the data at which answers were given to clients that ask whether theirs are still right. */
export class EarlierAnswers {
  readonly #answers = new LRUCache<string, RememberedAnswer>({ maxSize: maxCharacters });

  /** Undefined if the client has no answer, or no token. */
  revalidation(request: ReadRequest, { principal }: Pick<Context, 'principal'>): Revalidation | undefined {
    if (!principal || request.headers['if-none-match'] === undefined) return undefined;
    return new Revalidation(this.#answers, request, principal);
  }
}

/** Decides whether a read has to be run for a client that has an answer. */
export class Revalidation {
  /** The answer that the client has, if the read was not run because of it. */
  unchanged: EarlierAnswer | undefined;
  readonly #answers: LRUCache<string, RememberedAnswer>;
  readonly #request: ReadRequest;
  readonly #key: string;
  #position: string | undefined;

  constructor(answers: LRUCache<string, RememberedAnswer>, request: ReadRequest, principal: Principal) {
    this.#answers = answers;
    this.#request = request;
    this.#key = keyOf(request, principal);
  }

  /** Uses the client's answer, as `unchanged`, if it was given at this position; returns whether it was. */
  useAnswerOf(position: string): boolean {
    const known = this.#answers.get(this.#key);
    if (known?.position !== position || performance.now() - known.answeredMs > trustedMs) return false;
    if (!this.#request.hasAnswer(known)) return false;
    this.unchanged = known;
    return true;
  }

  /** Notes that the answer stays the same as long as the data is at this position. */
  noteReusable(position: string): void {
    this.#position = position;
  }

  /** Remembers the answer, unless it may change without a change of the position. */
  remember(answer: EarlierAnswer): void {
    if (this.#position === undefined) return;
    const remembered = { ...answer, position: this.#position, answeredMs: performance.now() };
    this.#answers.set(this.#key, remembered, { size: JSON.stringify(remembered).length });
  }
}

/** The parts of a request on which its answer depends. A token of the same scopes may belong to somebody else. */
function keyOf({ path, query, headers, origin }: ReadRequest, principal: Principal): string {
  const { workspaceId, tokenId, role, scopes } = principal;
  const parts = [
    [workspaceId, tokenId, role, ...scopes],
    [origin, path, query.toString(), headers.accept, headers['x-graphql-cost']],
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
