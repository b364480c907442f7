import { expect, it } from '@jest/globals';
import { meter } from '../../src/db/engine/meter.ts';
import type { Live } from '../../src/live/live.ts';
import type { EventChunk } from '../../src/rest-compat/events.ts';
import type { Principal } from '../../src/resolvers/context.ts';
import { ChangeWaits } from '../../src/server/change-waits.ts';
import { Admission } from '../../src/server/limits/admission.ts';

it('the work of a stream may take and wait as long as the settings say', async () => {
  const limits = { maxConcurrency: 1, queueWaitMs: 30_000, requestTimeoutMs: 60_000 };
  const watch = { arrivals: () => ({ arrival: 0, end: () => undefined }) };
  const waits = new ChangeWaits({ watch } as unknown as Live, new Admission(limits));
  const principal = { workspaceId: 'here', role: 'member', scopes: new Set() } as unknown as Principal;
  let given: { leftMs: number; waitMs: number } | undefined;
  await waits.first(principal, 'now', async () => {
    given = meter()?.deadline;
    return {} as EventChunk;
  });
  expect(given?.waitMs).toBe(30_000);
  expect(given?.leftMs).toBeGreaterThan(30_000);
});
