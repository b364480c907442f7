import type { Logger } from 'pino';
import { onStatement } from '../../db/engine/meter.ts';

const maxSqlLength = 2_000;

/** Logs each slow statement with its text, which contains no values, and its request. Returns a function that stops this. */
export function logSlowStatements(logger: Logger, thresholdMs: number): () => void {
  return onStatement(({ sql, tookMs, failed, loggedRequest }) => {
    if (tookMs < thresholdMs) return;
    const { requestId, operationName: operation, trace } = loggedRequest ?? {};
    logger.warn(
      {
        requestId,
        ...trace?.logged,
        operation,
        ms: Math.round(tookMs),
        failed,
        sql: sql.slice(0, maxSqlLength),
      },
      `a statement took ${Math.round(tookMs)} ms`,
    );
  });
}
