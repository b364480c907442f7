import { webhookDeliveryState, webhookState } from '../../src/model/codes.ts';
import { type Fixture, cyclicAt } from './fixture.ts';

const dayMs = 86_400_000;

/** Adds webhooks that send nothing: they are disabled, or their next attempt is far in the future. */
export function addWebhooks({ workspaceId, rows, uuid, nowMs }: Fixture): void {
  const far = new Date(nowMs + 300 * dayMs);
  for (const index of [0, 1, 2]) {
    const id = uuid();
    const isBackingOff = index === 1;
    rows.webhook.push({
      workspaceId,
      id,
      url: `https://fixture.example/hooks/${index}`,
      description: index ? '' : 'For the dashboard.',
      eventTypes: index ? ['issue.created.v1', 'issue-comment.created.v1'] : [],
      teamId: index === 2 ? cyclicAt(rows.team, 0).id : null,
      hasImports: index === 1,
      state: isBackingOff ? webhookState.backing_off : webhookState.disabled,
      disabledReason: index ? null : 'The receiver answered 410 Gone.',
      secret: Buffer.from('sealed'),
      userAccountId: cyclicAt(rows.member, index % 2).userAccountId,
      scopes: ['issues:read', 'workspace:admin'],
      // After the end of the log, so that the backlog is empty.
      position: 1_000_000_000,
      tag: 1,
      failures: index * 5,
      lastSuccessUtc: index ? new Date(nowMs - dayMs) : null,
      nextAttemptUtc: isBackingOff ? far : null,
      // The first two have the same time.
      createdUtc: new Date(nowMs - (index < 2 ? 5 : 4) * dayMs),
      updatedUtc: new Date(nowMs - 3 * dayMs),
      deletedUtc: null,
    });
    for (const [number, state] of Object.values(webhookDeliveryState).entries()) {
      const isWaiting = state === webhookDeliveryState.waiting;
      rows.webhookDelivery.push({
        workspaceId,
        id: uuid(),
        webhookId: id,
        position: number + 1,
        changeId: number ? uuid() : null,
        issueId: number ? cyclicAt(rows.issue, number).id : null,
        eventType: number ? 'issue.updated.v1' : 'changes.lost.v1',
        state,
        body: '{}',
        attempts: JSON.stringify(
          number
            ? [{ utc: new Date(nowMs).toISOString(), status: null, ms: 15_000, error: 'No.', head: '' }]
            : [],
        ),
        attemptCount: number ? 1 : 0,
        nextAttemptUtc: isWaiting ? far : null,
        createdUtc: new Date(nowMs - (number < 2 ? 2 : 1) * dayMs),
        finishedUtc: isWaiting ? null : new Date(nowMs - dayMs),
      });
    }
  }
}
