import { rmSync } from 'node:fs';
import { dropRun } from './templates.ts';

/** Leaves nothing of the run in memory, nor on the server. */
export default async function teardown(): Promise<void> {
  const { TEST_DATABASE_URL, WORKGRAPH_TEST_MEMORY, WORKGRAPH_TEST_RUN } = process.env;
  if (WORKGRAPH_TEST_MEMORY) rmSync(WORKGRAPH_TEST_MEMORY, { recursive: true, force: true });
  if (TEST_DATABASE_URL && WORKGRAPH_TEST_RUN) await dropRun(TEST_DATABASE_URL, WORKGRAPH_TEST_RUN);
}
