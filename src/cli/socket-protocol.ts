import { join, relative } from 'node:path';
import { z } from 'zod';

/** A command as its client sends it to the server that holds the data directory. */
export const commandRequest = z.object({
  command: z.string(),
  args: z.record(z.string(), z.unknown()),
  cwd: z.string(),
  /** A client of an earlier version does not say it. */
  operator: z.object({ name: z.string(), host: z.string() }).default({ name: 'unknown', host: 'unknown' }),
  isTerminal: z.boolean(),
  columns: z.number(),
});
export type CommandRequest = z.infer<typeof commandRequest>;

/** A line of the answer: data, words, and at last the exit code. */
export const commandLine = z.union([
  z.object({ out: z.string() }),
  z.object({ err: z.string() }),
  z.object({ exit: z.number() }),
]);
export type CommandLine = z.infer<typeof commandLine>;

/** Of the kernel's 108 bytes, with some to spare. */
const longestSocketPath = 100;

/**
 * Where the server listens for commands; undefined where it cannot: on Windows, whose pipes are open to more
 * than their owner, or where the path is too long for a socket, from here too.
 */
export function socketPathOf(dataDir: string): string | undefined {
  if (process.platform === 'win32') return undefined;
  const absolute = join(dataDir, 'socket');
  const paths = [absolute, relative(process.cwd(), absolute)];
  return paths.find((path) => Buffer.byteLength(path) <= longestSocketPath);
}
