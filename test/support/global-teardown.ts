import { dropRun } from './templates.ts';

/** Leaves nothing of the run on the server. */
export default async function teardown(): Promise<void> {
  const { TEST_DATABASE_URL, WORKGRAPH_TEST_RUN } = process.env;
  if (TEST_DATABASE_URL && WORKGRAPH_TEST_RUN) await dropRun(TEST_DATABASE_URL, WORKGRAPH_TEST_RUN);
}
