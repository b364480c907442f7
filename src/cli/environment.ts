import { type ArgsDef, type CommandDef, defineCommand, type ParsedArgs } from 'citty';
import type { Database } from '../db/engine/engine.ts';
import type { FileStore } from '../storage/storage.ts';
import type { Actor } from '../resolvers/audit.ts';
import { flagsOf } from '../server/settings.ts';
import { refuseUnknownArguments, reportFailure } from './failures.ts';

/** What a command that needs the database runs with, in this process or within the server that holds the directory. */
export interface CommandEnvironment {
  readonly database: Database;
  /** Where the service keeps what is no row: the demo's token, files, the signing key. */
  readonly dataDir: string;
  /** Where the bytes of files are. */
  readonly store: FileStore;
  /** Takes the command's data. */
  readonly stdout: (text: string) => void;
  /** Resolves when what was put out so far is taken, or nobody takes it any more: whoever puts out much waits for it. */
  readonly taken: () => Promise<void>;
  /** Takes the command's words. */
  readonly stderr: (text: string) => void;
  /** Do the words go to a person at a terminal, and how wide is it. */
  readonly isTerminal: boolean;
  readonly columns: number;
  /** Who gives the command: the user of the machine, and its name. */
  readonly operator: { readonly name: string; readonly host: string };
  /** Where paths among the arguments start. */
  readonly cwd: string;
  /** Aborted when the person gives up. */
  readonly signal: AbortSignal;
}

/** The environment but for the database: what a client of the socket sends along, and what a process has of its own. */
export type Terminal = Omit<CommandEnvironment, 'database' | 'dataDir' | 'store'>;

/** Who acts in a command, for the audit. */
export function actorOf({ operator }: Pick<CommandEnvironment, 'operator'>): Actor {
  return { kind: 'operator', name: operator.name, address: operator.host };
}

/** A command that needs the database, as citty takes it and as a server that holds the directory runs it. */
export type DatabaseCommand = CommandDef & {
  readonly execute: (env: CommandEnvironment, args: Record<string, unknown>) => Promise<number>;
  /** Does it read whole tables, so that a statement may take its time. */
  readonly unhurried: boolean;
};

interface DatabaseCommandOptions<Args extends ArgsDef> {
  /** As a person types it: `token create`. */
  readonly name: string;
  readonly description: string;
  readonly args: Args;
  /** Does it read whole tables, so that a statement may take its time; where PostgreSQL would end it else. */
  readonly unhurried?: boolean;
  /**
   * Does the work and gives the exit code. Expected failures are AppErrors and UsageErrors. May run in a server of
   * many requests: it writes through `env` alone, and lets other things happen while it works.
   */
  readonly run: (env: CommandEnvironment, args: ParsedArgs<Args & typeof locationArgs>) => Promise<number>;
}

/** Where the database is: flags that every command with a database has. */
export const locationArgs = flagsOf(['DATA_DIR', 'DATABASE_URL']);

/**
 * A command that needs the database: it runs in this process, or within the server that holds the embedded
 * directory. An embedded database is brought up to date first; an external one has to be (`workgraph migrate`).
 */
export function databaseCommand<const Args extends ArgsDef>(
  options: DatabaseCommandOptions<Args>,
): DatabaseCommand {
  const { name, description, unhurried = false } = options;
  // citty's parsed arguments go through JSON when a server runs the command, and come out the same.
  const execute = options.run as DatabaseCommand['execute'];
  const args = { ...options.args, ...locationArgs };
  const command = defineCommand({
    meta: { name: name.split(' ').at(-1) ?? name, description },
    args,
    async run(context) {
      process.exitCode = await reportFailure(async () => {
        refuseUnknownArguments(context.args, args);
        // Loaded when it is needed: `--help` has no use for a database.
        const { runWithDatabase } = await import('./location.ts');
        return runWithDatabase({ name, execute, unhurried }, context.args);
      });
    },
  });
  return { ...(command as CommandDef), execute, unhurried };
}
