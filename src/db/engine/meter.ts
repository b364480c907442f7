import { AsyncLocalStorage } from 'node:async_hooks';
import type { Deadline } from './deadline.ts';
import type { ReadAllowance } from './read-allowance.ts';

/** What a request has used of the database so far. */
export interface Meter {
  /** SQL statements sent; begin, commit, rollback and savepoints are not counted. */
  statements: number;
  /**
   * The sum of the times from sending a statement to its last row. Statements that run at the same time are each
   * counted in full.
   */
  sqlMs: number;
  /** Undefined for work that no client waits for. */
  readonly deadline?: Deadline | undefined;
  /** How much the request may still read; undefined where there is no limit. */
  allowance?: ReadAllowance | undefined;
  /** The request that sends the statements, for the listeners of `onStatement`. */
  readonly loggedRequest?: LoggedRequest | undefined;
}

/** What log lines and traces say about a request. */
export interface LoggedRequest {
  readonly requestId: string;
  readonly operationName: string | undefined;
  /** The position of the request in a trace. */
  readonly trace: { readonly logged: object } | undefined;
}

/** One statement that has ended. */
export interface SentStatement {
  readonly sql: string;
  readonly tookMs: number;
  readonly failed: boolean;
  readonly loggedRequest: LoggedRequest | undefined;
}

/**
 * Calls `listener` for every statement of this process, even outside of requests. Returns a function that removes it.
 */
export function onStatement(listener: (statement: SentStatement) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Runs a request with its own meter. Statements that it awaits or batches count on this meter only. */
export function withMeter<Result>(
  request: () => Promise<Result>,
  { deadline, loggedRequest, allowance }: Pick<Meter, 'deadline' | 'loggedRequest' | 'allowance'> = {},
): Promise<Result> {
  return meters.run({ statements: 0, sqlMs: 0, deadline, loggedRequest, allowance }, request);
}

/** The meter of the request that is running, or undefined outside of one. */
export function meter(): Readonly<Meter> | undefined {
  return meters.getStore();
}

/** Replaces the allowance of the running request, which has discarded what it has read so far. */
export function renewAllowance(allowance: ReadAllowance): void {
  const running = meters.getStore();
  if (running?.allowance) running.allowance = allowance;
}

/** Counts and times one statement of the running request. Only `BorrowedConnection` calls this, for every statement. */
export async function measure<Result>(sql: string, send: () => Promise<Result>): Promise<Result> {
  const running = meters.getStore();
  if ((!running && listeners.size === 0) || isTransactionControl(sql)) return send();
  if (running) running.statements += 1;
  const sentAtMs = performance.now();
  let failed = true;
  try {
    const result = await send();
    failed = false;
    return result;
  } finally {
    const tookMs = performance.now() - sentAtMs;
    if (running) running.sqlMs += tookMs;
    for (const listener of listeners)
      listener({ sql, tookMs, failed, loggedRequest: running?.loggedRequest });
  }
}

/** Whether the statement begins, ends or divides a transaction. */
export function isTransactionControl(sql: string): boolean {
  return transactionControl.test(sql);
}

const listeners = new Set<(statement: SentStatement) => void>();

const meters = new AsyncLocalStorage<Meter>();

const transactionControl = /^(?:begin|start transaction|commit|rollback|savepoint|release)\b/;
