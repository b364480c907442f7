import { type DestinationStream, type Logger, pino } from 'pino';
import type { LogLevel } from '../settings.ts';
import { withoutSecrets } from './secrets.ts';

interface LoggerOptions {
  readonly stream?: NodeJS.WritableStream & { readonly isTTY?: boolean };
  /** What must not be in a line, beside tokens. */
  readonly secrets?: readonly string[];
}

/** JSON lines; for a person at a terminal, lines with colours instead. */
export async function createLogger(
  level: LogLevel,
  { stream = process.stdout, secrets = [] }: LoggerOptions = {},
): Promise<Logger> {
  const lines = await destination(stream);
  // The second line of defence: nothing here is given a secret, but a client may put its own where it does not belong.
  const write = (line: string) => {
    lines.write(withoutSecrets(line, secrets));
  };
  return pino({ level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime }, { write });
}

async function destination(stream: NonNullable<LoggerOptions['stream']>): Promise<DestinationStream> {
  if (!stream.isTTY) return stream;
  const { PinoPretty } = await import('pino-pretty');
  return PinoPretty({ destination: stream, ignore: 'requestId', translateTime: 'SYS:HH:MM:ss' });
}
