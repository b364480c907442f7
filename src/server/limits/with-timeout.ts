/** Another process did not answer in time. */
export class TimeoutError extends Error {}

/** Waits for an answer of another process, but no longer than `ms`. `process` names it in the error. */
export function withTimeout<Result>(ms: number, answer: Promise<Result>, process: string): Promise<Result> {
  const { promise: timedOut, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(new TimeoutError(`${process} did not answer within ${ms} ms.`));
  // Answers that have arrived meanwhile are handled first, because this process itself may have been late.
  const timer = setTimeout(() => setImmediate(giveUp), ms);
  return Promise.race([answer, timedOut]).finally(() => clearTimeout(timer));
}
