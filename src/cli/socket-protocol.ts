import { join, relative } from 'node:path';
import { z } from 'zod';

/** The request with which a client asks the server that holds the data directory to run a command. */
export const commandRequest = z.object({
  /** Names the run, so that another request can interrupt it. */
  id: z.string().default(''),
  command: z.string(),
  args: z.record(z.string(), z.unknown()),
  cwd: z.string(),
  /** Clients of earlier versions do not send it. */
  operator: z.object({ name: z.string(), host: z.string() }).default({ name: 'unknown', host: 'unknown' }),
  isTerminal: z.boolean(),
  columns: z.number(),
});
export type CommandRequest = z.infer<typeof commandRequest>;

/** A line of the response: data for standard output, a message for standard error, or at the end the exit code. */
export const commandLine = z.union([
  z.object({ out: z.string() }),
  z.object({ err: z.string() }),
  z.object({ exit: z.number() }),
]);
export type CommandLine = z.infer<typeof commandLine>;

/** Where a client asks the server to interrupt the run whose id is the body. The server then answers 204. */
export const interruptPath = '/interruptions';

/** The kernel allows 108 bytes; this leaves a margin. */
const maxSocketPath = 100;

/**
 * The path of the socket on which the server listens for commands. Undefined where there can be none: on Windows, whose
 * named pipes are accessible to other users, and where both the absolute and the relative path are too long for a
 * socket.
 */
export function socketPathOf(dataDir: string): string | undefined {
  if (process.platform === 'win32') return undefined;
  const absolute = join(dataDir, 'socket');
  const paths = [absolute, relative(process.cwd(), absolute)];
  return paths.find((path) => Buffer.byteLength(path) <= maxSocketPath);
}
