import { GraphQLError } from 'graphql';
import { StorageFullError, StorageRefusedError, StorageUnavailableError } from '../../storage/storage.ts';
import { AnswerTooLargeError } from '../../db/engine/read-allowance.ts';
import { DatabaseUnavailableError, isConnectionLoss } from '../../db/engine/unavailable.ts';
import { maxAnswerBytes } from '../limits.ts';
import { addLocations } from '../documents/document-source.ts';
import { truncateText, truncateViolation } from './problem.ts';
import { AppError, type ErrorCode, errorCodes, type Violation } from '../../resolvers/errors.ts';

/** Receives an error that the request did not cause, for the log: a bug, which clients see masked, or an outage. */
export type Report = (error: unknown) => void;

/** The extensions of an error in an answer. */
export interface ErrorExtensions {
  /** One of `errorCodes`, in upper case. */
  code: string;
  requestId: string;
  errors?: readonly Violation[];
}

/**
 * The error as clients see it: expected errors have their code, errors of the document or the variables have GraphQL's,
 * and all others are masked. An error that the request did not cause is reported. The API that responds reads
 * `originalError`, which is not serialized.
 */
export function formatError(error: unknown, requestId: string, report?: Report): GraphQLError {
  const expected = expectedError(error);
  if (isServerError(error)) report?.(rootOf(error));
  const { code, message, violations } = expected ?? maskedError;
  const extensions: ErrorExtensions = {
    code: code.toUpperCase(),
    requestId,
    ...(violations.length > 0 && { errors: violations.map(truncateViolation) }),
  };
  const { nodes, source, positions, path } = error instanceof GraphQLError ? error : {};
  const originalError = expected ?? maskedError;
  return addLocations(
    new GraphQLError(truncateText(message), {
      nodes,
      source,
      positions,
      path,
      originalError,
      extensions: { ...extensions },
    }),
  );
}

/** The expected error behind an error of the database, the storage or graphql-js; undefined for a bug. */
export function expectedError(error: unknown): AppError | undefined {
  const root = rootOf(error);
  if (root instanceof AppError) return root;
  // A GraphQLError that the request caused has a location in the document or a code. One without both comes from a scalar or
  // enum that could not serialize one of our values, which is a bug, and its message contains the value.
  if (root instanceof GraphQLError && (root.nodes || root.source || codeOf(root))) {
    return new AppError(codeOf(root) ?? 'graphql_validation_failed', root.message);
  }
  if (root instanceof AnswerTooLargeError) return new AppError('query_too_complex', answerTooLarge, [], root);
  return storageError(root);
}

/** Whether graphql-js would fail like the compiled executor: the data store does not answer, or the answer is too large. */
export function failsInBothExecutors(error: unknown): boolean {
  return isOutage(error) || isAnswerTooLarge(error);
}

/** Whether the answer was larger than an answer may be. */
export function isAnswerTooLarge(error: unknown): boolean {
  return sizeErrorOf(error) !== undefined;
}

/** The error that says that the answer was larger than an answer may be, behind an error that clients see; undefined for others. */
export function sizeErrorOf(error: unknown): AnswerTooLargeError | undefined {
  const cause = expectedError(error)?.cause;
  return cause instanceof AnswerTooLargeError ? cause : undefined;
}

/** Whether the data store does not answer. */
export function isOutage(error: unknown): boolean {
  return expectedError(error)?.code === 'unavailable';
}

/** Whether the request did not cause the error, so that the log has to mention it. */
export function isServerError(error: unknown): boolean {
  return !expectedError(error) || causeOf(error) !== undefined;
}

/**
 * Why the data store or the storage failed, for the log: a sentence without values and secrets, and the code of
 * PostgreSQL or the system. Undefined for errors of the request and for bugs.
 */
export function causeOf(error: unknown): string | undefined {
  const failure = expectedError(error);
  if (failure?.code !== 'unavailable' && failure?.code !== 'insufficient_storage') return undefined;
  const cause = failure.cause instanceof Error ? failure.cause : failure;
  const code = [cause, cause.cause].map(codeIn).find((one) => one !== undefined);
  return code === undefined || cause === failure
    ? truncateText(cause.message)
    : truncateText(`${cause.message} (${code})`);
}

const answerTooLarge = `The answer would be larger than ${maxAnswerBytes.toLocaleString('en')} bytes. Ask for smaller pages or fewer fields.`;

/** The error that clients see if there is a bug. */
export const maskedError = new AppError(
  'internal_error',
  'An unexpected error occurred. Its details are in the log under the request id.',
);

/** The error that was thrown, which graphql-js may have wrapped. */
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

export const unavailableMessage = 'The data store does not answer; try again soon.';
export const noSpaceMessage = 'The data store has no space left.';

/** Errors of a database or storage that is unreachable, full or too slow, or does not do what it is asked. */
function storageError(error: unknown): AppError | undefined {
  if (
    error instanceof DatabaseUnavailableError ||
    error instanceof StorageUnavailableError ||
    error instanceof StorageRefusedError ||
    isConnectionLoss(error) ||
    sqlState(error) === 'busy'
  ) {
    return new AppError('unavailable', unavailableMessage, [], error);
  }
  if (sqlState(error) === 'disk_full' || error instanceof StorageFullError) {
    return new AppError('insufficient_storage', noSpaceMessage, [], error);
  }
  return undefined;
}

/** Statement timeout, lock timeout, serialization failure, deadlock, out of memory, disk full. */
const sqlStates: Readonly<Record<string, string>> = {
  '57014': 'busy',
  '55P03': 'busy',
  '40001': 'busy',
  '40P01': 'busy',
  '53200': 'busy',
  '53100': 'disk_full',
};

function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return sqlStates[codeIn(error) ?? ''] ?? (isFullNode(error) ? 'disk_full' : undefined);
}

/**
 * Whether a node of Citus has no space for the data that another one copies to it. Citus keeps the message of that node but loses
 * its code.
 */
function isFullNode(error: Error): boolean {
  return codeIn(error) === 'XX000' && error.message.endsWith(': No space left on device');
}

/** The code that a driver or the system gave an error. */
function codeIn(error: unknown): string | undefined {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
