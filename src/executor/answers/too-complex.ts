import { raise, type Violation } from '../../resolvers/errors.ts';

/** Refuses an operation that exceeds a limit on its size or its cost; the message names the limit. */
export function tooComplex(message: string, violations?: readonly Violation[]): never {
  raise('query_too_complex', message, violations);
}
