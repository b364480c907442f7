import { capacityOf, type Costs, type Size } from './model.ts';
import type { WorkspaceTimes } from './workspaces.ts';

/** What was measured elsewhere; docs/capacity.md has the commands. */
const measured = {
  processMs: 0.76,
  databaseMs: 0.62,
  writeShare: 0.2,
  logBytes: 6_100,
  issueBytes: 5_900,
  commentBytes: 740,
  processMb: 250,
  referenceMb: 0.5,
  streamKb: 27,
} as const;

/** Ten million issues in a thousand workspaces, the largest of which has a tenth of them. */
const large: Omit<Size, 'processes' | 'connections'> = {
  issues: 10_000_000,
  commentsPerIssue: 2.5,
  workspaces: 1_000,
  referenceRows: 300_000,
  databaseCores: 32,
  diskMb: 400,
  streams: 50_000,
  keptRows: 200_000,
  writtenWorkspaces: 200,
};

const poolSize = 10;

/** Prints where a large service is full, for growing numbers of processes. */
export function printCapacity({ numberingMs }: WorkspaceTimes, say: (line: string) => void): void {
  const costs: Costs = { ...measured, numberingMs };
  say('');
  say(
    '| processes | requests/s of the processes | of the database | of its log | MB each | connections | numbered after |',
  );
  say('|---|---|---|---|---|---|---|');
  for (const processes of [1, 2, 4, 8, 16, 32, 64]) {
    const full = capacityOf(costs, { ...large, processes, connections: poolSize + 2 });
    const cells = [
      processes,
      marked(full.processes, full),
      marked(full.database, full),
      marked(full.log, full),
      Math.round(full.processMemoryMb),
      full.connections,
      `${Math.round(full.numberedAfterMs)} ms`,
    ];
    say(`| ${cells.join(' | ')} |`);
  }
  const { diskGb } = capacityOf(costs, { ...large, processes: 1, connections: 0 });
  say('');
  say(`${Math.round(diskGb)} GB on disk`);
}

/** A rate, in bold if it is the first to be reached. */
function marked(
  rate: number,
  { processes, database, log }: Record<'processes' | 'database' | 'log', number>,
): string {
  const text = Math.round(rate).toLocaleString('en');
  return rate <= Math.min(processes, database, log) ? `**${text}**` : text;
}
