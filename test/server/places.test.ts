import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { hasServer } from '../db/engines.ts';
import { newAttachmentCaller, random } from '../attachments/files.ts';
import { type App, startApp, type TestWorkspace } from '../support/app.ts';
import { whileIssuesAreBlocked } from '../support/blocked-issues.ts';

let app: App;
let other: TestWorkspace;
let download: string;
beforeAll(async () => {
  app = await startApp({ settings: { MAX_CONCURRENCY: '4', POOL_SIZE: '4', REQUEST_TIMEOUT_MS: '60000' } });
  other = await app.secondWorkspace();
  const caller = await newAttachmentCaller(app);
  const file = await caller.attach('plan.bin', 'application/octet-stream', random(100));
  download = file.signedDownloadUrl ?? '';
});
afterAll(() => app.stop());

/** Sends a request of the busy workspace, and returns its status. */
type Read = () => Promise<number>;

const reads: readonly (readonly [face: string, read: Read])[] = [
  ['GraphQL', async () => (await app.graphql('{ issues(first: 1) { nodes { key } } }')).status],
  ['REST', async () => (await app.request('GET', '/v1/issues?page_size=1')).status],
  ['the addresses of files', async () => (await fetch(download)).status],
];

// The embedded engine has one connection, so a statement that waits for a table blocks all others there.
(hasServer ? it : it.skip).each(reads)(
  'requests over %s that all wait for a table leave places to those of another workspace',
  async (_face, read) => {
    const readChangesOfOther = async () =>
      (await app.request('GET', '/v1/changes?page_size=1', other)).status;
    // After these requests the process knows both tokens, and that both workspaces send requests.
    expect([await read(), await readChangesOfOther()]).toEqual([200, 200]);
    const { blocked } = await whileIssuesAreBlocked(app, async () => {
      const sent = Promise.all(Array.from({ length: 12 }, read));
      for (let n = 0; n < 3; n += 1) expect(await readChangesOfOther()).toBe(200);
      return { blocked: sent };
    });
    expect(await blocked).toEqual(Array.from({ length: 12 }, () => 200));
  },
);
