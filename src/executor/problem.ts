import { type ErrorCode, errorCodes, type Violation } from '../resolvers/errors.ts';

/** Problem details (RFC 9457) as this service gives them. */
export interface Problem {
  type: 'about:blank';
  title: string;
  status: number;
  detail: string;
  code: ErrorCode;
  requestId: string;
  errors: readonly Violation[];
}

/** The problem of an expected failure. */
export function problemOf(
  error: { code: ErrorCode; message: string; violations?: readonly Violation[] },
  requestId: string,
): Problem {
  const { status, title } = errorCodes[error.code];
  return {
    type: 'about:blank',
    title,
    status,
    detail: error.message,
    code: error.code,
    requestId,
    errors: error.violations ?? [],
  };
}
