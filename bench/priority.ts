import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

const niceness = Number(process.env['BENCH_NICE'] ?? 0);

/** Gives a process the priority that was asked for; those that it starts from then on inherit it. */
export function prefer(pid: number): void {
  if (niceness === 0) return;
  setPriority(pid, niceness);
  try {
    // Linux shares the processor by sessions first, each with a niceness of its own.
    writeFileSync(`/proc/${pid}/autogroup`, String(niceness));
  } catch {
    // Another system, or one without groups.
  }
}
