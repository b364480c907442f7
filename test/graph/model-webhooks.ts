import { type Thing, thing, type Things } from './model.ts';
import { codeName, idOf, utc } from './values.ts';

type Rows = Things['rows'];

/** Webhooks and their deliveries, from their rows. */
export function webhookThings(things: Things): Thing[] {
  const { webhook: webhooks, webhookDelivery: deliveries } = things.rows;
  return [
    ...webhooks.filter(({ deletedUtc }) => !deletedUtc).map((row) => webhook(things, row)),
    ...deliveries.map((row) => delivery(things, row)),
  ];
}

function webhook(things: Things, row: Rows['webhook'][number]): Thing {
  const id = idOf('webhook', row.id);
  const teamId = idOf('team', row.teamId);
  const userAccountId = idOf('user', row.userAccountId);
  const { url, description, eventTypes, hasImports, disabledReason, scopes, failures, revision } = row;
  return thing(
    'Webhook',
    {
      id,
      url,
      description,
      eventTypes,
      teamId,
      hasImports,
      state: codeName('webhookState', row.state),
      disabledReason,
      scopes,
      userAccountId,
      failures,
      lastSuccessUtc: utc(row.lastSuccessUtc),
      nextAttemptUtc: utc(row.nextAttemptUtc),
      backlog: 0,
      previousSecretUntilUtc: utc(row.previousUntilUtc),
      createdUtc: utc(row.createdUtc),
      updatedUtc: utc(row.updatedUtc),
      revision,
    },
    {
      team: () => things.find('Team', teamId),
      member: () => things.member(userAccountId),
      deliveries: () => things.where('WebhookDelivery', 'webhookId', id),
      waitingCount: () =>
        things.where('WebhookDelivery', 'webhookId', id).filter(({ state }) => state === 'WAITING').length,
    },
  );
}

function delivery(things: Things, row: Rows['webhookDelivery'][number]): Thing {
  const issueId = idOf('issue', row.issueId);
  const { eventType, attemptCount, attempts, body } = row;
  return thing(
    'WebhookDelivery',
    {
      id: idOf('whdelivery', row.id),
      webhookId: idOf('webhook', row.webhookId),
      changeId: idOf('change', row.changeId),
      eventType,
      issueId,
      state: codeName('webhookDeliveryState', row.state),
      attemptCount,
      attempts,
      nextAttemptUtc: utc(row.nextAttemptUtc),
      body,
      createdUtc: utc(row.createdUtc),
    },
    { issue: () => things.find('Issue', issueId) },
  );
}
