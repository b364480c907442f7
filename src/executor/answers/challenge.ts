import { AppError } from '../../resolvers/errors.ts';
import { InsufficientScopeError } from '../selections/scope-rule.ts';

/** The credential of the request is not valid. The challenge in the reply says so (RFC 6750). */
export class InvalidTokenError extends AppError {
  constructor(message: string) {
    super('unauthenticated', message);
    this.name = 'InvalidTokenError';
  }
}

/** The caller has used up a quota. */
export class RateLimitedError extends AppError {
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super('rate_limited', message);
    this.name = 'RateLimitedError';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The headers that a reply with this error has in both APIs: how to authenticate, when to retry. */
export function headersOf(error: unknown): Record<string, string> {
  if (!(error instanceof AppError)) return {};
  if (error.code === 'unauthenticated' || error.code === 'forbidden') {
    return { 'WWW-Authenticate': challenge(error) };
  }
  if (error instanceof RateLimitedError) return { 'Retry-After': String(error.retryAfterSeconds) };
  return error.code === 'unavailable' || error.code === 'too_many_streams' ? { 'Retry-After': '1' } : {};
}

function challenge(error: AppError): string {
  const realm = 'Bearer realm="workgraph"';
  if (error instanceof InvalidTokenError) return `${realm}, error="invalid_token"`;
  if (error.code === 'unauthenticated') return realm;
  const scope = error instanceof InsufficientScopeError ? `, scope="${error.scopes.join(' ')}"` : '';
  return `${realm}, error="insufficient_scope"${scope}`;
}
