import { type ModelObject, modelObject, type Model } from './model.ts';
import { codeName, idOf, utc } from './values.ts';

type Rows = Model['rows'];

/** Webhooks and their deliveries, from their rows. */
export function webhookObjects(model: Model): ModelObject[] {
  const { webhook: webhooks, webhookDelivery: deliveries } = model.rows;
  return [
    ...webhooks.filter(({ deletedUtc }) => !deletedUtc).map((row) => webhook(model, row)),
    ...deliveries.map((row) => delivery(model, row)),
  ];
}

function webhook(model: Model, row: Rows['webhook'][number]): ModelObject {
  const id = idOf('webhook', row.id);
  const teamId = idOf('team', row.teamId);
  const userAccountId = idOf('user', row.userAccountId);
  const { url, description, eventTypes, hasImports, disabledReason, scopes, failures, revision } = row;
  return modelObject(
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
      team: () => model.find('Team', teamId),
      member: () => model.member(userAccountId),
      deliveries: () => model.where('WebhookDelivery', 'webhookId', id),
      waitingCount: () =>
        model.where('WebhookDelivery', 'webhookId', id).filter(({ state }) => state === 'WAITING').length,
    },
  );
}

function delivery(model: Model, row: Rows['webhookDelivery'][number]): ModelObject {
  const issueId = idOf('issue', row.issueId);
  const { eventType, attemptCount, attempts, body } = row;
  return modelObject(
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
    { issue: () => model.find('Issue', issueId) },
  );
}
