import { readLauncher } from '../../server/process-environment.ts';

/** The interval of the checks for the parent. */
const checkIntervalMs = 250;

/** Our own npm scripts run in the foreground, as does `npx workgraph`, so their shell ends only when it is killed. */
const foregroundScripts: ReadonlySet<string> = new Set(['start', 'workgraph']);

/**
 * Calls `callback` when the parent process has ended, if npm started this process. npm runs scripts in a shell and sends SIGTERM
 * only to the shell. A shell that does not forward it, such as dash, would leave the server running. A process that npm did not
 * start may outlive its parent, as daemons do. The timer does not keep the process alive.
 */
export function whenParentIsGone(callback: () => void): void {
  const launcher = readLauncher();
  if (!runsInForeground(launcher)) return;
  const watch = setInterval(() => {
    if (isAlive(launcher.parentPid)) return;
    clearInterval(watch);
    callback();
  }, checkIntervalMs);
  watch.unref();
}

function runsInForeground({ script = '', packageName }: ReturnType<typeof readLauncher>): boolean {
  return script === 'npx' || (packageName === 'workgraph' && foregroundScripts.has(script));
}

/** Whether a process exists. The error EPERM means that it does, but belongs to another user. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
