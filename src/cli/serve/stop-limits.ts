/**
 * How long after `DRAIN_MS` a server may still take to stop: its requests, the process that answers them, and a worker, which its
 * supervisor then kills. Each has a little longer than the one before it, so that it can end by itself.
 */
export const stopWithinMs = { requests: 8_500, process: 9_500, worker: 10_000 } as const;
