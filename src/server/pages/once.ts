/**
 * Returns a function that makes the value with its first call, and returns the same value later. A failure is not
 * cached.
 */
export function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let value: Promise<Value> | undefined;
  return () => {
    value ??= make().catch((error: unknown) => {
      value = undefined;
      throw error;
    });
    return value;
  };
}
