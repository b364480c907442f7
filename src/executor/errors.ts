import { GraphQLError } from 'graphql';
import { StorageFullError, StorageUnavailableError } from '../storage/storage.ts';
import { AnswerTooLargeError } from '../db/engine/read-allowance.ts';
import { DatabaseUnavailableError, isConnectionLoss } from '../db/engine/unavailable.ts';
import { maxAnswerBytes } from './limits.ts';
import { brief, cut } from './problem.ts';
import { AppError, type ErrorCode, errorCodes, type Violation } from '../resolvers/errors.ts';

/** Hears of an error that is not the request's, with everything that a log needs: it was masked, or it is an outage. */
export type Report = (error: unknown) => void;

/** What a client is told about an error, beside its message. */
export interface ErrorExtensions {
  /** A code of the registry, in upper case. */
  code: string;
  requestId: string;
  errors?: readonly Violation[];
}

/**
 * The error as it is shown: an expected one with its code, a fault of the document or the variables with
 * GraphQL's; anything else is masked. What is not the request's doing is reported. `originalError` stays for the faces, it is not serialised.
 */
export function formatError(error: unknown, requestId: string, report?: Report): GraphQLError {
  const expected = expectedError(error);
  if (isOurs(error)) report?.(rootOf(error));
  const { code, message, violations } = expected ?? maskedError;
  const extensions: ErrorExtensions = {
    code: code.toUpperCase(),
    requestId,
    ...(violations.length > 0 && { errors: violations.map(brief) }),
  };
  const place = error instanceof GraphQLError ? error : undefined;
  return new GraphQLError(cut(message), {
    nodes: place?.nodes,
    source: place?.source,
    positions: place?.positions,
    path: place?.path,
    originalError: expected ?? maskedError,
    extensions: { ...extensions },
  });
}

/** The expected failure behind an error of either engine or of graphql-js; undefined for a bug. */
export function expectedError(error: unknown): AppError | undefined {
  const root = rootOf(error);
  if (root instanceof AppError) return root;
  // graphql-js complains about the request with a place in the document, or before there is one; a scalar or an
  // enum that cannot serialise our own value is a bug, and its message would show the value.
  if (root instanceof GraphQLError && (root.nodes || root.source || codeOf(root))) {
    return new AppError(codeOf(root) ?? 'graphql_validation_failed', root.message);
  }
  if (root instanceof AnswerTooLargeError) return answerTooLarge;
  return storageError(root);
}

/** Would another executor only meet the same: the data store does not answer, or the answer is too large. */
export function isFinal(error: unknown): boolean {
  return isOutage(error) || rootOf(error) instanceof AnswerTooLargeError;
}

/** Is it that the data store does not answer, rather than anything about the request. */
export function isOutage(error: unknown): boolean {
  return expectedError(error)?.code === 'unavailable';
}

/** Is it not the request's doing, but a bug or an outage: the log is to say so. */
export function isOurs(error: unknown): boolean {
  return !expectedError(error) || causeOf(error) !== undefined;
}

/**
 * Why the service could not do what it was asked for now, for the log: a sentence without values and secrets, and the
 * code that PostgreSQL or the system has for it. Undefined for what is the request's doing, or a bug.
 */
export function causeOf(error: unknown): string | undefined {
  const failure = expectedError(error);
  if (failure?.code !== 'unavailable' && failure?.code !== 'insufficient_storage') return undefined;
  const cause = failure.cause instanceof Error ? failure.cause : failure;
  const code = [cause, cause.cause].map(codeIn).find((one) => one !== undefined);
  return code === undefined || cause === failure ? cut(cause.message) : cut(`${cause.message} (${code})`);
}

const answerTooLarge = new AppError(
  'query_too_complex',
  `The answer would be larger than ${maxAnswerBytes.toLocaleString('en')} bytes. Ask for smaller pages or fewer fields.`,
);

/** What is said of an error that nobody expected. */
export const maskedError = new AppError(
  'internal_error',
  'Something went wrong here. The request id finds it in the log.',
);

/** What was thrown, without what graphql-js put round it. */
export function rootOf(error: unknown): unknown {
  let root = error;
  while (root instanceof GraphQLError && root.originalError) root = root.originalError;
  return root;
}

function codeOf({ extensions }: GraphQLError): ErrorCode | undefined {
  const code = typeof extensions.code === 'string' ? extensions.code.toLowerCase() : '';
  return isErrorCode(code) ? code : undefined;
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCodes, code);
}

/** The database is gone, full or too slow: nothing is wrong with the request. */
function storageError(error: unknown): AppError | undefined {
  if (
    error instanceof DatabaseUnavailableError ||
    error instanceof StorageUnavailableError ||
    isConnectionLoss(error) ||
    sqlState(error) === 'busy'
  ) {
    return new AppError('unavailable', 'The data store does not answer; try again soon.', [], error);
  }
  if (sqlState(error) === 'disk_full' || error instanceof StorageFullError) {
    return new AppError('insufficient_storage', 'The data store has no room left.', [], error);
  }
  return undefined;
}

/** Taking too long, waiting too long for a lock, losing against others time and again, and no memory left. */
const sqlStates: Readonly<Record<string, string>> = {
  '57014': 'busy',
  '55P03': 'busy',
  '40001': 'busy',
  '40P01': 'busy',
  '53200': 'busy',
  '53100': 'disk_full',
};

function sqlState(error: unknown): string | undefined {
  return error instanceof Error ? sqlStates[codeIn(error) ?? ''] : undefined;
}

/** The code that a driver or the system has given an error. */
function codeIn(error: unknown): string | undefined {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
