import { resolve } from 'node:path';
import type { Settings } from './config.ts';
import { settingNames, settings } from './settings.ts';

// Everything that is read from the environment, apart from `config.ts`, which checks the settings and is slow to load.

/** The settings that are set, by flags or else by the environment. An empty value counts as not set. */
export function readSettings(flags: Settings, environment: NodeJS.ProcessEnv = process.env): Settings {
  const named = settingNames.map((name) => [name, flags[name] || environment[name] || undefined] as const);
  return Object.fromEntries(named.filter(([, text]) => text !== undefined));
}

/** The data directory, if no other setting is set, so that there is nothing to check. */
export function soleDataDir(flags: Settings, environment?: NodeJS.ProcessEnv): string | undefined {
  const { DATA_DIR = settings.DATA_DIR.default, ...others } = readSettings(flags, environment);
  return Object.keys(others).length === 0 ? resolve(DATA_DIR) : undefined;
}

/** The token of commands that are clients of a server. */
export function readClientToken(): string | undefined {
  return process.env.WORKGRAPH_TOKEN || undefined;
}

/** Tells a process that is started with it that it is a worker of the process that starts it. */
const workerVariable = 'WORKGRAPH_WORKER';

/** Whether this process is a worker, which a supervisor has started. */
export function isWorker(): boolean {
  return process.env[workerVariable] !== undefined;
}

/** The environment of a worker: that of its supervisor. */
export function workerEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, [workerVariable]: '1' };
}

/** Environment variables that npm, or `bin/workgraph.js` on an old Node, sets for the process that it starts. */
export function readLauncher(environment: NodeJS.ProcessEnv = process.env) {
  const { npm_lifecycle_event: script, npm_package_name: packageName } = environment;
  return { script, packageName, parentPid: Number(environment.WORKGRAPH_PARENT_PID) || process.ppid };
}
