import { hotSpots } from './hot-spots.ts';
import { mixed } from './mixed.ts';
import { pages } from './pages.ts';
import { newDocuments, reads } from './reads.ts';
import { rest } from './rest.ts';
import type { Workload } from './workload.ts';
import { writes } from './writes.ts';

/** All workloads in the order in which they run: reads before writes. */
export const workloads: readonly Workload[] = [
  ...reads,
  ...newDocuments,
  ...rest.reads,
  ...pages,
  ...writes,
  ...rest.writes,
  ...mixed,
  ...hotSpots,
];

/**
 * The kind of a workload's requests. Several workloads have the same requests with other inputs, such as a hot spot or
 * a deeper page.
 */
export function kindOf(workload: string): string {
  return /^(?:W\d+[tf]?)/.exec(workload)?.[0] ?? workload;
}

/** Whether each request of the workload has a new document. */
export function isNew(workload: string): boolean {
  return workload.endsWith('-new');
}

export function workloadOf(id: string): Workload {
  const found = workloads.find((workload) => workload.id === id);
  if (!found) throw new Error(`There is no workload ${id}.`);
  return found;
}
