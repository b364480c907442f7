/** The database cannot be used at the moment. The message is one sentence that contains no password. */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError';
}

/** The messages of pg's errors for a query that took too long and a lost connection. They have no code. */
export const readTimeout = 'Query read timeout';
export const connectionTerminated = 'Connection terminated';
const lossMessages = new RegExp(`^${connectionTerminated}|^${readTimeout}|is not queryable`);

/** Makes an error that names the database and the reason why it is unavailable. */
export function unavailable(address: string, error: unknown): DatabaseUnavailableError {
  const { code, message } = fieldsOf(error);
  const reason = reasons[code] ?? reasonOf(message);
  return new DatabaseUnavailableError(`PostgreSQL at ${address} is unavailable: ${reason}.`, {
    cause: error,
  });
}

/** Whether the error means that the connection was lost or takes no writes, and not that a statement failed. */
export function isConnectionLoss(error: unknown): boolean {
  const { code, message } = fieldsOf(error);
  if (code.startsWith('08') || lossCodes.has(code)) return true;
  return lossMessages.test(message);
}

/**
 * Whether a write was refused because the server takes none, as an old primary after a failover. The connection remains
 * in use.
 */
export function isReadOnly(error: unknown): boolean {
  return fieldsOf(error).code === readOnlyCode;
}

const readOnlyCode = '25006';
const noAnswer = 'it did not answer in time';

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was lost',
  EPIPE: 'the connection was lost',
  ENOENT: 'there is no such socket',
  ENOTFOUND: 'the host is not known',
  EAI_AGAIN: 'the host is not known',
  ETIMEDOUT: noAnswer,
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  [readOnlyCode]: 'it is read-only',
  '28P01': 'the user or the password was refused',
  '28000': 'the user was refused',
  '3D000': 'the database does not exist',
  '53300': 'it has no connection left',
  '57P01': 'the connection was ended by its administrator',
  '57P02': 'it crashed',
  '57P03': 'it is starting or stopping',
};

const lossCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  '57P01',
  '57P02',
  '57P03',
  readOnlyCode,
]);

/**
 * Reads the fields without `instanceof`: in a test with its own realm, errors of Node are not instances of its `Error`.
 */
function fieldsOf(error: unknown): { code: string; message: string } {
  const { code = '', message = '' } = Object(error) as { code?: string; message?: string };
  return { code, message };
}

function reasonOf(message: string): string {
  if (message.startsWith('unsupported startup parameter'))
    return 'it is a pooler, which needs PREPARED=off and, for notifications, LISTEN_URL';
  if (/timeout/i.test(message)) return noAnswer;
  if (message.startsWith(connectionTerminated)) return 'the connection was lost';
  return message.replace(/\.$/, '') || 'it could not be reached';
}
