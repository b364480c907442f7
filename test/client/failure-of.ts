import { WorkgraphError } from '../../src/client/client.ts';

/** The WorkgraphError that a call throws. */
export async function failureOf(call: Promise<unknown>): Promise<WorkgraphError> {
  const error: unknown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(error instanceof WorkgraphError)) throw new Error(`It failed with ${String(error)}.`);
  return error;
}
