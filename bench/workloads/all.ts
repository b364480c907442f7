import { hotSpots } from './hot-spots.ts';
import { mixed } from './mixed.ts';
import { pages } from './pages.ts';
import { newDocuments, reads } from './reads.ts';
import { rest } from './rest.ts';
import type { Workload } from './workload.ts';
import { writes } from './writes.ts';

/** In the order in which they run: what reads before what writes. */
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

/** Several ids ask for the same thing of another input: a hot spot of a write, another depth of a page. */
export function kindOf(workload: string): string {
  return /^(?:W\d+[tf]?)/.exec(workload)?.[0] ?? workload;
}

/** Does each request of the workload bring a document of its own. */
export function isNew(workload: string): boolean {
  return workload.endsWith('-new');
}

export function workloadOf(id: string): Workload {
  const found = workloads.find((workload) => workload.id === id);
  if (!found) throw new Error(`There is no workload ${id}.`);
  return found;
}
