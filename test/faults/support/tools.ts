import { execFileSync, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** The tools that faults need besides Node.js and PostgreSQL, with their Debian packages. */
export const packages = {
  haproxy: 'haproxy',
  faketime: 'faketime',
  taskset: 'util-linux',
  mount: 'mount',
} as const;
export type Tool = keyof typeof packages;

export function isInstalled(tool: Tool): boolean {
  return spawnSync('sh', ['-c', `command -v ${tool}`], { stdio: 'ignore' }).status === 0;
}

/** Installs missing tools on Debian; returns those that are still missing. */
export function install(tools: readonly Tool[]): Tool[] {
  const missing = tools.filter((tool) => !isInstalled(tool));
  if (missing.length === 0 || process.getuid?.() !== 0) return missing;
  const names = missing.map((tool) => packages[tool]);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { stdio: 'ignore', env, timeout: 300_000 } as const;
  const apt = (args: readonly string[]) => spawnSync('apt-get', args, options).status === 0;
  if (!apt(['install', '-y', '-qq', ...names]) && apt(['update', '-qq']))
    apt(['install', '-y', '-qq', ...names]);
  return missing.filter((tool) => !isInstalled(tool));
}

/** Pins this process, which generates the load, to the last core, so that it does not slow down what it measures. */
export function pinToLastCore(): void {
  if (!isInstalled('taskset')) return;
  execFileSync('taskset', ['-a', '-p', '-c', String(availableParallelism() - 1), String(process.pid)], {
    stdio: 'ignore',
  });
}

const cores = availableParallelism();

/** The command of a process that may use all cores, although this one is pinned. */
export function onAllCores(program: string, args: readonly string[]): [string, string[]] {
  return isInstalled('taskset')
    ? ['taskset', ['-c', `0-${cores - 1}`, program, ...args]]
    : [program, [...args]];
}
