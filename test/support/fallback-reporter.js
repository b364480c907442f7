import { appendFileSync } from 'node:fs';
import { subscribe } from 'node:diagnostics_channel';

// Global setup makes every Node process that a test starts load this file, so that fallbacks in server processes reach
// the test that started them. It is JavaScript because some tests start an older Node. A worker of jest loads it too,
// but watches its own fallbacks in fallback-watch.ts.
const { WORKGRAPH_TEST_FALLBACKS: folder, JEST_WORKER_ID: worker } = process.env;
if (folder && worker && !process.argv[1]?.includes('jest-worker')) {
  subscribe('workgraph:fallback', (fallback) => {
    appendFileSync(`${folder}/${worker}`, `${JSON.stringify(fallback)}\n`);
  });
}
