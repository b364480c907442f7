import { channel } from 'node:diagnostics_channel';
import type { OperationDefinitionNode } from 'graphql';
import { meter } from '../../db/engine/meter.ts';
import { tooComplex } from '../answers/too-complex.ts';
import { Semaphore } from '../../db/engine/semaphore.ts';
import { raise } from '../../resolvers/errors.ts';
import type { OperationCost } from '../cost/operation-cost.ts';
import { Bail, NotCompilable, UnsupportedIds } from '../compiled/run/frame.ts';
import { expectedError, isOutage } from '../answers/errors.ts';
import { maxFallbackCost, maxFallbacks, maxWaitingFallbacks, valuesPerObject } from '../limits.ts';

/** Permits for queries that the compiled executor leaves to graphql-js, which needs much more memory for them. */
const permits = new Semaphore(maxFallbacks, maxWaitingFallbacks);

/** Runs a fallback when it gets a permit; throws `unavailable` when too many wait, or at its deadline. */
export function runFallback<Result>(run: () => Promise<Result>): Promise<Result> {
  const deadline = meter()?.deadline;
  return permits.run(run, refuse, { withinMs: deadline?.leftMs, deadline });
}

function refuse(): never {
  raise('unavailable', 'Too many expensive operations are waiting; try again soon.');
}

/**
 * Refuses a query that the compiled executor cannot answer and that costs too much for graphql-js. If an argument was refused,
 * that refusal answers the whole operation. graphql-js answers at any cost if the request did not cause the fallback, for
 * instance if a row has just changed, and if the query only reads the schema, because its cost is limited already.
 */
export function refuseCostlyFallback(reason: unknown, { requested, values, readsData }: OperationCost): void {
  const isCheap = requested <= maxFallbackCost && values <= maxFallbackCost * valuesPerObject;
  if (isCheap || !readsData) return;
  const refusal = expectedError(reason);
  if (refusal) throw refusal;
  if (!(reason instanceof NotCompilable || reason instanceof UnsupportedIds)) return;
  const costly = reason instanceof UnsupportedIds ? 'one of its ids' : `\`${reason.message}\``;
  const [amount, max, unit] =
    requested > maxFallbackCost
      ? [requested, maxFallbackCost, 'objects']
      : [values, maxFallbackCost * valuesPerObject, 'values'];
  tooComplex(
    `The operation could return ${amount.toLocaleString('en')} ${unit}. With ${costly} it may return at most ${max.toLocaleString('en')}: ask for that in an operation of its own.`,
  );
}

/** Receives the reason of a fallback, and whether it is a fault of the compiled executor. */
export type FallbackReport = (reason: unknown, operation: string, isFault: boolean) => void;

/**
 * The reason of a fallback: a field has no plan, the plan does not cover a value or an id, the request was refused, the
 * data store failed, or the compiled executor has a fault.
 */
export type FallbackKind = 'no plan' | 'bail' | 'refusal' | 'outage' | 'fault';

/** One fallback, as `fallbackChannel` publishes it. */
export interface Fallback {
  readonly kind: FallbackKind;
  readonly message: string;
  /** The operation's name; empty when it has none. */
  readonly operation: string;
}

/** Publishes every fallback of this process, although the log has only the first one of each operation. */
export const fallbackChannel = channel('workgraph:fallback');

const reported = {
  fault: new WeakSet<OperationDefinitionNode>(),
  expected: new WeakSet<OperationDefinitionNode>(),
};

/** Reports the first expected reason of each operation of a document, and its first fault. */
export function reportFallback(
  reason: unknown,
  operation: OperationDefinitionNode,
  report: FallbackReport | undefined,
): void {
  const kind = kindOf(reason);
  const name = operation.name?.value ?? '';
  if (fallbackChannel.hasSubscribers) {
    const message = reason instanceof Error ? reason.message : String(reason);
    fallbackChannel.publish({ kind, message, operation: name } satisfies Fallback);
  }
  const isFault = kind === 'fault';
  const alreadyReported = reported[isFault ? 'fault' : 'expected'];
  if (!report || alreadyReported.has(operation)) return;
  alreadyReported.add(operation);
  report(reason, name, isFault);
}

function kindOf(reason: unknown): FallbackKind {
  if (reason instanceof NotCompilable) return 'no plan';
  if (reason instanceof Bail) return 'bail';
  if (isOutage(reason)) return 'outage';
  return expectedError(reason) ? 'refusal' : 'fault';
}
