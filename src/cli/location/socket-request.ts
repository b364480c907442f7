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
  /** `isTty` of the environment. The name stays, because clients of other versions use it. */
  isTerminal: z.boolean(),
  columns: z.number(),
});
export type CommandRequest = z.infer<typeof commandRequest>;
