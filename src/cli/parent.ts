import { readLauncher } from '../server/config.ts';

/** How often the parent is looked for. */
const everyMs = 250;

/** Our own scripts, and `npx workgraph`: they run in the foreground, so their shell ends only when it was killed. */
const foregroundScripts: ReadonlySet<string> = new Set(['start', 'workgraph']);

/**
 * Calls back when npm started this process and its parent is gone. npm runs scripts in a shell, and passes SIGTERM to the
 * shell alone; a shell that does not forward it, such as dash, leaves the server behind. A process that npm did not start
 * may outlive its parent: that is how daemons are made. The watch does not keep the process alive.
 */
export function whenParentIsGone(callback: () => void): void {
  const launcher = readLauncher();
  if (!runsInForeground(launcher)) return;
  const watch = setInterval(() => {
    if (isAlive(launcher.parentPid)) return;
    clearInterval(watch);
    callback();
  }, everyMs);
  watch.unref();
}

function runsInForeground({ script = '', packageName }: ReturnType<typeof readLauncher>): boolean {
  return script === 'npx' || (packageName === 'workgraph' && foregroundScripts.has(script));
}

/** A process of another user, which may not be signalled, is alive too. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
