import { type DestinationStream, type Logger, pino } from 'pino';
import type { LogLevel } from './config.ts';

/** JSON lines; for a person at a terminal, lines with colours instead. Secrets are never given to it. */
export async function createLogger(
  level: LogLevel,
  stream: NodeJS.WriteStream = process.stdout,
): Promise<Logger> {
  return pino(
    { level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime },
    await destination(stream),
  );
}

async function destination(stream: NodeJS.WriteStream): Promise<DestinationStream> {
  if (!stream.isTTY) return stream;
  const { PinoPretty } = await import('pino-pretty');
  return PinoPretty({ destination: stream, ignore: 'requestId', translateTime: 'SYS:HH:MM:ss' });
}
