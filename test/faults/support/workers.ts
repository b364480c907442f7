import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** The pids of the current workers of a supervisor: its children whose command contains the word. */
export function workersOf(supervisor: number, word = 'workgraph.js'): number[] {
  const tasks = `/proc/${supervisor}/task`;
  const children = readdirSync(tasks).flatMap((task) =>
    contentOf(`${tasks}/${task}/children`).split(' ').filter(Boolean).map(Number),
  );
  return children.filter((pid) => contentOf(`/proc/${pid}/cmdline`).includes(word));
}

/** Waits until a number of workers of a service accept connections. */
export async function untilWorkers(
  { metricsUrl }: { readonly metricsUrl: string },
  count: number,
): Promise<void> {
  while (!(await (await fetch(metricsUrl)).text()).includes(`\nworkgraph_workers ${count}\n`))
    await delay(20);
}

/** Waits until none of these workers runs and there are two again. */
export async function untilReplaced(workers: () => readonly number[], old: readonly number[]): Promise<void> {
  for (;;) {
    const now = workers();
    if (now.length === 2 && !now.some((pid) => old.includes(pid))) return;
    await delay(20);
  }
}

/** The content of a file; empty if its process or thread has ended. */
function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
