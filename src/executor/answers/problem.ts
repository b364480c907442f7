import { limits } from '../../model/limits.ts';
import { type ErrorCode, errorCodes, type Violation } from '../../resolvers/errors.ts';

/** Problem details (RFC 9457) as this service writes them. */
export interface Problem {
  type: 'about:blank';
  title: string;
  status: number;
  detail: string;
  code: ErrorCode;
  requestId: string;
  errors: readonly Violation[];
}

/** All codes and titles of problems. */
export const problemCodes: readonly string[] = Object.keys(errorCodes);
export const problemTitles: readonly string[] = [
  ...new Set(Object.values(errorCodes).map(({ title }) => title)),
];

/** The problem of an expected error. */
export function problemOf(
  error: { code: ErrorCode; message: string; violations?: readonly Violation[] },
  requestId: string,
): Problem {
  const { status, title } = errorCodes[error.code];
  return {
    type: 'about:blank',
    title,
    status,
    detail: truncateText(error.message),
    code: error.code,
    requestId,
    errors: (error.violations ?? []).slice(0, limits.violations).map(truncateViolation),
  };
}

/** A message may quote a value of the request, which may be long. */
export const maxMessageLength = 1_000;

/** A violation with its texts cut. */
export function truncateViolation({ field, message }: Violation): Violation {
  return { field: truncateText(field), message: truncateText(message) };
}

/** The beginning of a text, without halves of surrogate pairs, which strict JSON parsers refuse. */
export function truncateText(text: string): string {
  const short = text.length <= maxMessageLength ? text : `${text.slice(0, maxMessageLength - 1)}…`;
  return short.toWellFormed();
}
