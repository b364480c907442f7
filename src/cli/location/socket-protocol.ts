import { join, relative } from 'node:path';

/** A line of the answer: data for standard output, a message for standard error, or at the end the exit code. */
export type CommandLine = { readonly out: string } | { readonly err: string } | { readonly exit: number };

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
