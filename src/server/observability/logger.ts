import { type DestinationStream, type Logger, pino } from 'pino';
import type { LogLevel } from '../settings.ts';
import { withoutSecrets } from './redaction.ts';

interface LoggerOptions {
  readonly stream?: NodeJS.WritableStream & { readonly isTTY?: boolean };
  /** Texts that must not appear in log lines, in addition to tokens. */
  readonly secrets?: readonly string[];
  /** The number of the worker, which each line then has. */
  readonly worker?: number | undefined;
}

/** A logger that writes JSON lines, or for a person at a terminal a colored line for each message. */
export async function createLogger(
  level: LogLevel,
  { stream = process.stdout, secrets = [], worker }: LoggerOptions = {},
): Promise<Logger> {
  const lines = await destination(stream);
  // A second safeguard: no secret is logged on purpose, but a client may send its own in an unexpected place.
  const write = (line: string) => {
    lines.write(withoutSecrets(line, secrets));
  };
  const base = worker === undefined ? undefined : { worker };
  return pino({ level, base, timestamp: pino.stdTimeFunctions.isoTime }, { write });
}

/** The fields that the message of a request contains already, or that only programs use. */
const redundantFields = 'requestId,method,path,status,address,url';

async function destination(stream: NonNullable<LoggerOptions['stream']>): Promise<DestinationStream> {
  if (!stream.isTTY) return stream;
  const { PinoPretty } = await import('pino-pretty');
  return PinoPretty({
    destination: stream,
    ignore: redundantFields,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
  });
}
