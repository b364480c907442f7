import { AsyncLocalStorage } from 'node:async_hooks';
import type { Deadline } from './deadline.ts';
import type { ReadAllowance } from './read-allowance.ts';

/** What a request has asked of the database so far. */
export interface Meter {
  /** SQL statements sent; begin, commit, rollback and savepoints are not counted. */
  statements: number;
  /** Time from sending a statement to its last row, summed, so statements side by side count twice. */
  sqlMs: number;
  /** Undefined for what nobody waits for. */
  readonly deadline?: Deadline | undefined;
  /** How much it may read; undefined where there is no limit. */
  readonly allowance?: ReadAllowance | undefined;
  /** Whose statements these are, for who hears of them. */
  readonly subject?: Subject | undefined;
}

/** What a log says of a request. */
export interface Subject {
  readonly requestId: string;
  readonly operationName: string | undefined;
  /** Its place in a trace. */
  readonly trace: { readonly logged: object } | undefined;
}

/** One statement as it went. */
export interface SentStatement {
  readonly sql: string;
  readonly tookMs: number;
  readonly failed: boolean;
  readonly subject: Subject | undefined;
}

/** Hears of every statement of the process, of no request too; gives what ends that. */
export function onStatement(listener: (statement: SentStatement) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Runs a request under a meter of its own: what it awaits or batches counts there and nowhere else. */
export function metered<Result>(
  request: () => Promise<Result>,
  { deadline, subject, allowance }: Pick<Meter, 'deadline' | 'subject' | 'allowance'> = {},
): Promise<Result> {
  return meters.run({ statements: 0, sqlMs: 0, deadline, subject, allowance }, request);
}

/** The meter of the request that is running, or undefined outside of one. */
export function meter(): Readonly<Meter> | undefined {
  return meters.getStore();
}

/** Counts one statement of the running request; the engine alone calls this, for every statement. */
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
    for (const listener of listeners) listener({ sql, tookMs, failed, subject: running?.subject });
  }
}

/** Does it begin, end or divide a transaction, rather than ask for something. */
export function isTransactionControl(sql: string): boolean {
  return TRANSACTION_CONTROL.test(sql);
}

const listeners = new Set<(statement: SentStatement) => void>();

const meters = new AsyncLocalStorage<Meter>();

const TRANSACTION_CONTROL = /^(?:begin|start transaction|commit|rollback|savepoint|release)\b/;
