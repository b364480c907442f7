import type { OperationDefinitionNode } from 'graphql';
import { raise } from '../resolvers/errors.ts';
import { Bail, NotCompilable } from './compiled/frame.ts';
import { expectedError } from './errors.ts';
import { maxFallbacks, maxWaitingFallbacks } from './limits.ts';

/** Lets so much work run at once; more waits for its turn, and what would wait too long is refused. */
export class Gate {
  readonly #most: number;
  readonly #mostWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(most: number, mostWaiting: number) {
    this.#most = most;
    this.#mostWaiting = mostWaiting;
  }

  /** Throws `unavailable` when too many wait already. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#turn();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The turn is handed on, so nobody who comes now can take it.
      if (next) next();
      else this.#running -= 1;
    }
  }

  #turn(): Promise<void> | undefined {
    if (this.#running < this.#most) {
      this.#running += 1;
      return undefined;
    }
    if (this.#waiting.length >= this.#mostWaiting)
      raise('unavailable', 'Too many operations of a costly kind are waiting; try again soon.');
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}

/** Queries of this process that the compiled executor leaves to graphql-js, which holds a row of objects for each field. */
export const fallbacks = new Gate(maxFallbacks, maxWaitingFallbacks);

/** Hears why an operation was left to graphql-js, and whether that is a fault of the compiled executor. */
export type FallbackReport = (reason: unknown, operation: string, isFault: boolean) => void;

const told = {
  fault: new WeakSet<OperationDefinitionNode>(),
  expected: new WeakSet<OperationDefinitionNode>(),
};

/** Once for each operation of a document, and once more where the first time was no fault. */
export function tellFallback(
  reason: unknown,
  operation: OperationDefinitionNode,
  report: FallbackReport | undefined,
): void {
  const isExpected = reason instanceof Bail || reason instanceof NotCompilable || expectedError(reason);
  const isFault = !isExpected;
  const kind = told[isFault ? 'fault' : 'expected'];
  if (!report || kind.has(operation)) return;
  kind.add(operation);
  report(reason, operation.name?.value ?? '', isFault);
}
