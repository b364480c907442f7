import type { GraphQLFormattedError } from 'graphql';
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

/** The problem that an error of an operation's result is on REST. */
export function problemOfResult({ message, extensions = {} }: GraphQLFormattedError): Problem {
  const code = String(extensions.code).toLowerCase();
  return problemOf(
    {
      // `formatError` gave it a code of the registry.
      code: (Object.hasOwn(errorCodes, code) ? code : 'internal_error') as ErrorCode,
      message,
      violations: (extensions.errors ?? []) as readonly Violation[],
    },
    String(extensions.requestId ?? ''),
  );
}
