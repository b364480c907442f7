import { readdirSync, readFileSync } from 'node:fs';

// USER_HZ: /proc counts in hundredths of a second on all Linux systems that Node runs on.
const msPerTick = 10;

/** The CPU time of a process in milliseconds, without that of its children. */
export function cpuMs(pid: number): number {
  return ticks(pid, [11, 12]) * msPerTick;
}

/** The CPU time of a postmaster and all its processes, including ended ones, in milliseconds. */
export function databaseCpuMs(postmaster: number): number {
  let sum = ticks(postmaster, [11, 12, 13, 14]);
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (pid && statOf(pid)[1] === String(postmaster)) sum += ticks(pid, [11, 12]);
  }
  return sum * msPerTick;
}

/** The resident memory of a process in megabytes. */
export function residentMb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return Number.NaN;
  }
}

function ticks(pid: number, fields: readonly number[]): number {
  const stat = statOf(pid);
  return fields.reduce((sum, field) => sum + Number(stat[field] ?? 0), 0);
}

/** The fields of /proc/<pid>/stat after the program's name, which may contain spaces. The first one is the state. */
function statOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
