/** Another process did not answer in time. */
export class LateError extends Error {}

/** Waits this long for an answer of another process. */
export function within<Result>(ms: number, answer: Promise<Result>, process: string): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(new LateError(`${process} did not answer within ${ms} ms.`));
  // Answers that have arrived meanwhile are handled first, because this process itself may have been late.
  const timer = setTimeout(() => setImmediate(giveUp), ms);
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
