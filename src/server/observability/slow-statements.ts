import type { Logger } from 'pino';
import { onStatement } from '../../db/engine/meter.ts';

const longestText = 2_000;

/** Logs each slow statement with its text, which contains no values, and its request. Returns a function that stops this. */
export function logSlowStatements(logger: Logger, fromMs: number): () => void {
  return onStatement(({ sql, tookMs, failed, subject }) => {
    if (tookMs < fromMs) return;
    const { requestId, operationName: operation, trace } = subject ?? {};
    logger.warn(
      {
        requestId,
        ...trace?.logged,
        operation,
        ms: Math.round(tookMs),
        failed,
        sql: sql.slice(0, longestText),
      },
      `a statement took ${Math.round(tookMs)} ms`,
    );
  });
}
