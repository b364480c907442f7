import { AsyncLocalStorage } from 'node:async_hooks';

/** What a request has asked of the database so far. */
export interface Meter {
  /** SQL statements sent; begin, commit, rollback and savepoints are not counted. */
  statements: number;
  /** Time from sending a statement to its last row, summed, so statements side by side count twice. */
  sqlMs: number;
}

/** One statement as it went. */
export interface SentStatement {
  readonly sql: string;
  readonly tookMs: number;
  readonly failed: boolean;
}

/** Hears of every statement of the process, of no request too; gives what ends that. */
export function onStatement(listener: (statement: SentStatement) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Runs a request under a meter of its own: what it awaits or batches counts there and nowhere else. */
export function metered<Result>(request: () => Promise<Result>): Promise<Result> {
  return meters.run({ statements: 0, sqlMs: 0 }, request);
}

/** The meter of the request that is running, or undefined outside of one. */
export function meter(): Readonly<Meter> | undefined {
  return meters.getStore();
}

/** Counts one statement of the running request; the engine alone calls this, for every statement. */
export async function measure<Result>(sql: string, send: () => Promise<Result>): Promise<Result> {
  const running = meters.getStore();
  if ((!running && listeners.size === 0) || TRANSACTION_CONTROL.test(sql)) return send();
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
    for (const listener of listeners) listener({ sql, tookMs, failed });
  }
}

const listeners = new Set<(statement: SentStatement) => void>();

const meters = new AsyncLocalStorage<Meter>();

const TRANSACTION_CONTROL = /^(?:begin|start transaction|commit|rollback|savepoint|release)\b/;
