import { rmSync } from 'node:fs';
import { stopSharedServer } from './shared-app.ts';
import { closeDatabaseOfWorker, dropRun } from './templates.ts';

/** Removes the files of the run from memory, and its databases from the server. */
export default async function teardown(): Promise<void> {
  const {
    TEST_DATABASE_URL,
    WORKGRAPH_TEST_FALLBACKS,
    WORKGRAPH_TEST_MEMORY,
    WORKGRAPH_TEST_RUN,
    WORKGRAPH_TEST_SHARED,
  } = process.env;
  try {
    await closeDatabaseOfWorker();
    if (WORKGRAPH_TEST_SHARED) await stopSharedServer(WORKGRAPH_TEST_SHARED);
  } finally {
    const folders = [WORKGRAPH_TEST_SHARED, WORKGRAPH_TEST_FALLBACKS, WORKGRAPH_TEST_MEMORY];
    for (const folder of folders) if (folder) rmSync(folder, { recursive: true, force: true });
    if (TEST_DATABASE_URL && WORKGRAPH_TEST_RUN) await dropRun(TEST_DATABASE_URL, WORKGRAPH_TEST_RUN);
  }
}
