import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { meter } from '../../src/db/engine/meter.ts';
import { LiveChanges } from '../../src/live/live-changes.ts';
import { memberRole, principalKind } from '../../src/model/codes.ts';
import type { Principal } from '../../src/resolvers/context.ts';
import { newUuid } from '../../src/resolvers/ids.ts';
import { ChangeWaits } from '../../src/server/change-waits.ts';
import { Admission } from '../../src/server/limits/admission.ts';
import { databaseOfWorker, type TestDatabase } from '../support/templates.ts';

let testDatabase: TestDatabase;
let live: LiveChanges;
beforeAll(async () => {
  testDatabase = await databaseOfWorker();
  live = new LiveChanges(testDatabase.database, pino({ enabled: false }));
});
afterAll(async () => {
  await live.close();
  await testDatabase.drop();
});

it('the work of a stream may take and wait as long as the settings say', async () => {
  const limits = { maxConcurrency: 1, queueWaitMs: 30_000, requestTimeoutMs: 60_000 };
  const waits = new ChangeWaits(live, new Admission(limits));
  const principal: Principal = {
    workspaceId: newUuid(),
    userAccountId: newUuid(),
    memberId: newUuid(),
    displayName: 'Mira Member',
    role: memberRole.member,
    principalKind: principalKind.user,
    tokenId: newUuid(),
    scopes: new Set(),
    expiresUtc: null,
  };
  let deadline: { leftMs: number; waitMs: number } | undefined;
  await waits.first(principal, 'now', () => {
    deadline = meter()?.deadline;
    return Promise.resolve({ pieces: [], count: 0, cursor: '', hasMore: false });
  });
  expect(deadline?.waitMs).toBe(30_000);
  expect(deadline?.leftMs).toBeGreaterThan(30_000);
});
