import { AsyncLocalStorage } from 'node:async_hooks';

/** What a request has asked of the database so far. */
export interface Meter {
  /** SQL statements sent; begin, commit, rollback and savepoints are not counted. */
  statements: number;
  /** Time from sending a statement to its last row, summed, so statements side by side count twice. */
  sqlMs: number;
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
  if (!running || TRANSACTION_CONTROL.test(sql)) return send();
  running.statements += 1;
  const sentAtMs = performance.now();
  try {
    return await send();
  } finally {
    running.sqlMs += performance.now() - sentAtMs;
  }
}

const meters = new AsyncLocalStorage<Meter>();

const TRANSACTION_CONTROL = /^(?:begin|start transaction|commit|rollback|savepoint|release)\b/;
