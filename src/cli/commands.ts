import type { CommandDef, SubCommandsDef } from 'citty';
import type { DatabaseCommand } from './environment.ts';
import { type LazyCommand, valueOf } from './usage.ts';

/** All commands by name. The module of a command is loaded only when the command runs, or for its own `--help`. */
export const commands: SubCommandsDef = {
  serve: lazyCommand('Start the server (npm start)', () =>
    import('./serve/serve.ts').then(({ serveCommand }) => serveCommand(findDatabaseCommand) as CommandDef),
  ),
  migrate: lazyCommand(
    'Bring the database up to date; an external one needs this, or `serve --migrate`, after an upgrade',
    () => import('./migrate.ts').then(({ command }) => command as CommandDef),
  ),
  seed: lazyCommand(
    'Add the demo workspace to the database, or a workspace from your own files (--from)',
    () => import('./database-commands.ts').then(({ seed }) => seed as CommandDef),
  ),
  token: lazyCommand('Create, list and revoke access tokens', () =>
    import('./database-commands.ts').then(({ token }) => token as CommandDef),
  ),
  workspace: lazyCommand('Create and list workspaces', () =>
    import('./database-commands.ts').then(({ workspaces }) => workspaces as CommandDef),
  ),
  import: lazyCommand(
    'Import issues from another tracker or from an export of workgraph, or restore a backup',
    () => import('./database-commands.ts').then(({ importing }) => importing as CommandDef),
  ),
  export: lazyCommand(
    'Back up everything (--to), or print issues as lines of JSON; `import` reads both (`--from backup` or `ndjson`)',
    () => import('./database-commands.ts').then(({ exporting }) => exporting as CommandDef),
  ),
  distribute: lazyCommand(
    'Distribute the tables by workspace over the nodes of a Citus cluster, of which the database is the coordinator',
    () => import('./database-commands.ts').then(({ distribute }) => distribute as CommandDef),
  ),
  verify: lazyCommand(
    'Check that all data obeys the rules: counters, numbers, feeds, references; works while the database is in use',
    () => import('./database-commands.ts').then(({ verify }) => verify as CommandDef),
  ),
  changes: lazyCommand('Look after the log of changes', () =>
    import('./database-commands.ts').then(({ changes }) => changes as CommandDef),
  ),
  audit: lazyCommand(
    'Show the audit log: what was done to tokens, roles and the workspace, newest first',
    () => import('./database-commands.ts').then(({ audit }) => audit as CommandDef),
  ),
  directory: lazyCommand('Teams, projects, members and what belongs to them', () =>
    import('./database-commands.ts').then(({ directory }) => directory as CommandDef),
  ),
  explain: lazyCommand(
    'Print how a query would be answered: its round trips, their SQL statements, its cost',
    () => import('./explain.ts').then(({ command }) => command as CommandDef),
  ),
  manifest: lazyCommand(
    'Print the manifest of the documents in files, for DOCUMENTS_FILE: npx workgraph manifest queries/*.graphql',
    () => import('./manifest.ts').then(({ command }) => command as CommandDef),
  ),
  schema: lazyCommand('Print the GraphQL schema, with the scopes that fields require', () =>
    import('./schema.ts').then(({ command }) => command as CommandDef),
  ),
  webhooks: lazyCommand('Try webhooks out on this machine', () =>
    import('./webhooks.ts').then(({ command }) => command as CommandDef),
  ),
  openapi: lazyCommand('Print the OpenAPI 3.1 description of the REST endpoints', () =>
    import('./openapi.ts').then(({ command }) => command as CommandDef),
  ),
  completion: lazyCommand('Print what lets bash, zsh or fish complete commands and flags', () =>
    import('./completion.ts').then(({ completionCommand }) => completionCommand(commands) as CommandDef),
  ),
};

/** A command whose module is not loaded until it runs: its description for `--help` of other commands is here. */
function lazyCommand(description: string, load: () => Promise<CommandDef>): LazyCommand {
  const loadDescribed = async () => {
    const command = await load();
    return { ...command, meta: { ...(await valueOf(command.meta)), description } };
  };
  return Object.assign(loadDescribed, { description });
}

/** Finds a command by its name, such as `token create`. Undefined for a command that needs no database. */
export async function findDatabaseCommand(name: string): Promise<DatabaseCommand | undefined> {
  let command: unknown = { subCommands: commands };
  for (const word of name.split(' ')) {
    const { subCommands } = command as { subCommands?: SubCommandsDef };
    if (!subCommands || !Object.hasOwn(subCommands, word)) return undefined;
    const next = subCommands[word];
    command = typeof next === 'function' ? await next() : await next;
  }
  return isDatabaseCommand(command) ? command : undefined;
}

function isDatabaseCommand(command: unknown): command is DatabaseCommand {
  return typeof command === 'object' && command !== null && 'execute' in command;
}
