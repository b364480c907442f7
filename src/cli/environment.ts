import { type ArgsDef, type CommandDef, defineCommand, type ParsedArgs } from 'citty';
import type { Database } from '../db/engine/engine.ts';
import type { FileStore } from '../storage/storage.ts';
import type { Actor } from '../resolvers/access/audit.ts';
import { flagsOf } from '../server/setting-flags.ts';
import { refuseWrongArguments, reportFailure } from './failures.ts';

/**
 * The database, files and terminal of a command. A command with a database runs in its own process, or in the server
 * that holds the lock of the data directory.
 */
export interface CommandEnvironment {
  readonly database: Database;
  /** The directory for everything that is not in the database: the demo's token, files, the signing key. */
  readonly dataDir: string;
  /** The store of the bytes of attachments. */
  readonly store: FileStore;
  /** Writes the command's data. */
  readonly stdout: (text: string) => void;
  /**
   * Resolves when the data written so far has been read, or when its reader is gone. Commands with much output await
   * it.
   */
  readonly drained: () => Promise<void>;
  /** Writes the command's messages to the user. */
  readonly stderr: (text: string) => void;
  /** Whether the messages go to a terminal. */
  readonly isTty: boolean;
  /** The width of the terminal. */
  readonly columns: number;
  /** The user who runs the command, and the host name of the machine. */
  readonly operator: { readonly name: string; readonly host: string };
  /** The directory that relative paths in the arguments start from. */
  readonly cwd: string;
  /** Aborted when the user interrupts the command. */
  readonly signal: AbortSignal;
}

/**
 * The part of the environment that belongs to the user's process. A client sends it along if a server runs the command.
 */
export type Terminal = Omit<CommandEnvironment, 'database' | 'dataDir' | 'store'>;

/** The actor that the audit log names for a command. */
export function actorOf({ operator }: Pick<CommandEnvironment, 'operator'>): Actor {
  return { kind: 'operator', name: operator.name, address: operator.host };
}

/** A command that needs the database: citty's definition, and the function that a server calls to run it. */
export type DatabaseCommand = CommandDef & {
  readonly execute: (env: CommandEnvironment, args: Record<string, unknown>) => Promise<number>;
  /** Whether it reads whole tables, so that its statements have no timeout. */
  readonly hasNoTimeout: boolean;
};

interface DatabaseCommandOptions<Args extends ArgsDef> {
  /** The name as the user types it: `token create`. */
  readonly name: string;
  /** What it does; undefined for a command outside of groups, which `commands.ts` describes. */
  readonly description?: string;
  readonly args: Args;
  /** Whether it reads whole tables, so that its statements have no timeout on PostgreSQL. */
  readonly hasNoTimeout?: boolean;
  /**
   * Loads the function that runs the command and returns the exit code. It is loaded only by the process that has the
   * database, since it comes with all that makes and sends statements. Expected failures are AppErrors, CommandErrors
   * and UsageErrors. The command may run in a server that also answers requests: it must write only through `env`, and
   * must not block the event loop.
   */
  readonly load: () => Promise<
    (env: CommandEnvironment, args: ParsedArgs<Args & typeof locationArgs>) => Promise<number>
  >;
}

/** The flags of all commands with a database, which say where the database is. */
export const locationArgs = flagsOf(['DATA_DIR', 'DATABASE_URL']);

/**
 * Declares a command that needs the database. It runs in this process, or in the server that holds the lock of the data
 * directory. An embedded database is migrated first; an external one must be up to date (`npx workgraph migrate`).
 */
export function databaseCommand<const Args extends ArgsDef>(
  options: DatabaseCommandOptions<Args>,
): DatabaseCommand {
  const { name, description, hasNoTimeout = false } = options;
  const execute: DatabaseCommand['execute'] = async (env, parsed) => {
    // If a server runs the command, citty's parsed arguments are sent as JSON, which does not change them.
    const run = (await options.load()) as DatabaseCommand['execute'];
    return run(env, parsed);
  };
  const args = { ...options.args, ...locationArgs };
  const command = defineCommand({
    meta: { name: name.split(' ').at(-1) ?? name, ...(description !== undefined && { description }) },
    args,
    async run(context) {
      process.exitCode = await reportFailure(async () => {
        refuseWrongArguments(context.args, args);
        // Loaded only now, since `--help` needs no database.
        const { runWithDatabase } = await import('./location/location.ts');
        return runWithDatabase({ name, execute, hasNoTimeout }, context.args);
      });
    },
  });
  return { ...(command as CommandDef), execute, hasNoTimeout };
}
