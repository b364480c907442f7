import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

const niceness = Number(process.env['BENCH_NICE'] ?? 0);

/** Gives a process the niceness of `BENCH_NICE`. Processes that it starts afterwards inherit it. */
export function applyNiceness(pid: number): void {
  if (niceness === 0) return;
  setPriority(pid, niceness);
  try {
    // Linux first divides the CPU between sessions, which have a niceness of their own.
    writeFileSync(`/proc/${pid}/autogroup`, String(niceness));
  } catch {
    // The system has no session groups.
  }
}
