import type { CommandDef, SubCommandsDef } from 'citty';
import type { DatabaseCommand } from './environment.ts';

/** All commands by name. The module of a command is loaded only when the command runs. */
export const commands: SubCommandsDef = {
  serve: () => import('./serve.ts').then(({ serveCommand }) => serveCommand(findDatabaseCommand)),
  migrate: () => import('./migrate.ts').then(({ command }) => command),
  seed: () => import('./seed.ts').then(({ command }) => command as CommandDef),
  token: () => import('./token.ts').then(({ command }) => command as CommandDef),
  workspace: () => import('./workspace.ts').then(({ command }) => command as CommandDef),
  import: () => import('./import.ts').then(({ command }) => command as CommandDef),
  export: () => import('./export.ts').then(({ command }) => command as CommandDef),
  distribute: () => import('./distribute.ts').then(({ command }) => command as CommandDef),
  verify: () => import('./verify.ts').then(({ command }) => command as CommandDef),
  changes: () => import('./changes.ts').then(({ command }) => command as CommandDef),
  audit: () => import('./audit.ts').then(({ command }) => command as CommandDef),
  directory: () => import('./directory.ts').then(({ command }) => command as CommandDef),
  explain: () => import('./explain.ts').then(({ command }) => command as CommandDef),
  manifest: () => import('./manifest.ts').then(({ command }) => command as CommandDef),
  schema: () => import('./schema.ts').then(({ command }) => command),
  webhooks: () => import('./webhooks.ts').then(({ command }) => command as CommandDef),
  openapi: () => import('./openapi.ts').then(({ command }) => command),
  completion: () =>
    import('./completion.ts').then(({ completionCommand }) => completionCommand(commands) as CommandDef),
};

/** Finds a command by its name, such as `token create`. Undefined for a command that needs no database. */
export async function findDatabaseCommand(name: string): Promise<DatabaseCommand | undefined> {
  let found: unknown = { subCommands: commands };
  for (const word of name.split(' ')) {
    const { subCommands } = found as { subCommands?: SubCommandsDef };
    if (!subCommands || !Object.hasOwn(subCommands, word)) return undefined;
    const next = subCommands[word];
    found = typeof next === 'function' ? await next() : await next;
  }
  return isDatabaseCommand(found) ? found : undefined;
}

function isDatabaseCommand(command: unknown): command is DatabaseCommand {
  return typeof command === 'object' && command !== null && 'execute' in command;
}
