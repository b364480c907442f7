import { eventTypes } from '../../model/events.ts';
import { limits } from '../../model/limits.ts';
import { bodyOf, changeOf, clears, required, set } from '../body.ts';
import { equals } from '../comparators.ts';
import {
  WebhookCreateDocument,
  WebhookDeleteDocument,
  WebhookDeliveriesDocument,
  WebhookDeliveryRedeliverDocument,
  type WebhookDeliveryState,
  WebhookDocument,
  WebhookPingDocument,
  WebhooksDocument,
  WebhookSecretRotateDocument,
  type WebhookState,
  WebhookUpdateDocument,
} from '../operations.generated.ts';
import { namesOf } from '../enums.ts';
import { ifMatch, page, pathId } from '../params.ts';
import { createdAt, item, list, noContent } from '../replies.ts';
import { route } from '../route.ts';
import { pingResult, redelivery, webhook, webhookDelivery, webhookWithSecret } from '../shapes/webhooks.ts';
import { boolean, httpUrl, id, oneOf, text } from '../values.ts';

const scope = 'workspace:admin';
const webhookId = pathId('webhook', 'webhook', 'The id of the webhook.');
const states = oneOf<WebhookState>(namesOf('WebhookState'), 'Webhooks in this state.');
const deliveryStates = oneOf<WebhookDeliveryState>(
  namesOf('WebhookDeliveryState'),
  'Deliveries in this state.',
);

const url = httpUrl('Where to send messages: an https URL of a public address.', {
  maxLength: limits.url,
});
const fields = {
  description: text('What it is for.', { maxLength: limits.summary }),
  eventTypes: set(
    oneOf(Object.fromEntries(eventTypes.map((type) => [type, type])), 'A type of event.'),
    'The types of events to send; all that the token may read if the list is empty.',
    eventTypes.length,
  ),
  teamId: id('team', 'The team whose events are sent; when omitted, those of the whole workspace.'),
  hasImports: boolean('Whether to send changes made by imports.'),
};

/** GET /v1/webhooks */
export const webhooks = route({
  method: 'GET',
  path: '/v1/webhooks',
  scope,
  summary: 'Lists the webhooks of the workspace, oldest first. Only for owners and admins.',
  parameters: { ...page, state: states },
  operation: WebhooksDocument,
  variables: (p) => ({ first: p.page_size, after: p.cursor, filter: { state: equals(p.state) } }),
  pick: 'webhooks',
  reply: list(webhook),
});

/** POST /v1/webhooks */
export const webhookCreate = route({
  method: 'POST',
  path: '/v1/webhooks',
  scope,
  summary: 'Creates a webhook. Its secret is shown only in this answer.',
  parameters: {},
  body: bodyOf({ url: required(url), ...fields }),
  operation: WebhookCreateDocument,
  variables: (_parameters, body) => ({ input: body }),
  pick: 'webhookCreate',
  reply: createdAt(
    webhookWithSecret,
    { path: '/v1/webhooks/{webhookId}', parameterValuePath: 'webhook.id' },
    'The webhook that was created, and its secret.',
  ),
  failures: ['conflict'],
  takesNoKey: true,
});

/** GET /v1/webhooks/{webhookId} */
export const webhookById = route({
  method: 'GET',
  path: '/v1/webhooks/{webhookId}',
  scope,
  summary: 'Reads a webhook. Only for owners and admins.',
  parameters: { webhookId },
  operation: WebhookDocument,
  variables: (p) => ({ id: p.webhookId }),
  pick: 'webhooks.nodes.0',
  reply: item(webhook),
});

/** PATCH /v1/webhooks/{webhookId} */
export const webhookUpdate = route({
  method: 'PATCH',
  path: '/v1/webhooks/{webhookId}',
  scope,
  summary: 'Changes a webhook. From then on it receives what this token may read.',
  parameters: { webhookId, ...ifMatch },
  body: changeOf({
    url,
    ...fields,
    clearTeam: clears('teamId', 'Whether to send the events of all teams.'),
    state: oneOf<WebhookState>(
      { active: 'ACTIVE', disabled: 'DISABLED' },
      'Whether messages are sent to it.',
    ),
  }),
  operation: WebhookUpdateDocument,
  variables: (p, body) => ({ input: { id: p.webhookId, expectedRevision: p['If-Match'], ...body } }),
  pick: 'webhookUpdate.webhook',
  reply: item(webhook),
});

/** DELETE /v1/webhooks/{webhookId} */
export const webhookDelete = route({
  method: 'DELETE',
  path: '/v1/webhooks/{webhookId}',
  scope,
  summary: 'Deletes a webhook.',
  parameters: { webhookId, ...ifMatch },
  operation: WebhookDeleteDocument,
  variables: (p) => ({ input: { id: p.webhookId, expectedRevision: p['If-Match'] } }),
  pick: 'webhookDelete',
  reply: noContent(),
});

/** POST /v1/webhooks/{webhookId}/ping */
export const webhookPing = route({
  method: 'POST',
  path: '/v1/webhooks/{webhookId}/ping',
  scope,
  summary: 'Sends a test message at once, and returns the result.',
  parameters: { webhookId },
  operation: WebhookPingDocument,
  variables: (p) => ({ input: { id: p.webhookId } }),
  pick: 'webhookPing',
  reply: item(pingResult, 'The result of the test message.'),
  failures: ['conflict'],
  takesNoKey: true,
});

/** POST /v1/webhooks/{webhookId}/rotate-secret */
export const webhookRotateSecret = route({
  method: 'POST',
  path: '/v1/webhooks/{webhookId}/rotate-secret',
  scope,
  summary: 'Gives a webhook a new secret. For 24 hours, messages are signed with both secrets.',
  parameters: { webhookId, ...ifMatch },
  operation: WebhookSecretRotateDocument,
  variables: (p) => ({ input: { id: p.webhookId, expectedRevision: p['If-Match'] } }),
  pick: 'webhookSecretRotate',
  reply: item(webhookWithSecret, 'The webhook, and its new secret.'),
  takesNoKey: true,
});

/** GET /v1/webhooks/{webhookId}/deliveries */
export const webhookDeliveries = route({
  method: 'GET',
  path: '/v1/webhooks/{webhookId}/deliveries',
  scope,
  summary: 'Lists the messages that a webhook was sent in the last few days, newest first.',
  parameters: {
    webhookId,
    ...page,
    state: deliveryStates,
    event_type: text('Messages of this type, such as `issue.updated.v1`.', { maxLength: limits.eventType }),
  },
  operation: WebhookDeliveriesDocument,
  variables: (p) => ({
    id: p.webhookId,
    first: p.page_size,
    after: p.cursor,
    filter: { state: equals(p.state), eventType: equals(p.event_type) },
  }),
  pick: 'webhooks.nodes.0.deliveries',
  reply: list(webhookDelivery),
});

/** POST /v1/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver */
export const webhookRedeliver = route({
  method: 'POST',
  path: '/v1/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver',
  scope,
  summary: 'Sends a message again, with the same `webhook-id`.',
  parameters: {
    webhookId,
    deliveryId: pathId('whdelivery', 'webhook delivery', 'The id of the delivery.'),
  },
  operation: WebhookDeliveryRedeliverDocument,
  variables: (p) => ({ input: { webhookId: p.webhookId, ids: [p.deliveryId] } }),
  pick: 'webhookDeliveryRedeliver',
  reply: item(redelivery, 'The number of messages that will be sent again.'),
});
