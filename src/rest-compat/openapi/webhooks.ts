import { eventTypes, pingType } from '../../model/events.ts';
import { type JsonSchema, orNull } from '../json-schema.ts';
import { agentThreadMessage } from '../shapes/agent-threads.ts';
import { change } from '../shapes/changes.ts';
import { comment } from '../shapes/comments.ts';
import { issue } from '../shapes/issues.ts';
import { lostType } from '../webhook-messages.ts';
import type { Components, OpenApiObject } from './components.ts';

const timestamp: JsonSchema = { type: 'string', format: 'date-time', maxLength: 24 };

function message(title: string, types: readonly string[], data: JsonSchema): JsonSchema {
  return {
    title,
    type: 'object',
    properties: { type: { type: 'string', enum: types }, timestamp, data },
    required: ['type', 'timestamp', 'data'],
  };
}

const text = (description: string, maxLength: number): JsonSchema => ({
  type: 'string',
  description,
  maxLength,
});

const changeTypes = eventTypes.filter((type) => type !== lostType);

/** The messages to webhooks by name. */
const messages: Readonly<Record<string, { summary: string; body: JsonSchema }>> = {
  change: {
    summary: 'Reports a change, with the current state of the objects that it is about.',
    body: message('WebhookChangeMessage', changeTypes, {
      type: 'object',
      properties: {
        change: change.schema,
        issue: orNull(issue.schema),
        comment: comment.schema,
        agentMessage: agentThreadMessage.schema,
        isTruncated: { type: 'boolean', description: 'Whether texts were shortened or objects left out.' },
      },
      required: ['change'],
    }),
  },
  ping: {
    summary: 'A test message, which is sent only on request.',
    body: message('WebhookPingMessage', [pingType], {
      type: 'object',
      properties: { webhookId: text('The webhook.', 50) },
      required: ['webhookId'],
    }),
  },
  lost: {
    summary:
      'Reports that changes are missing: they were removed from the log before they could be sent to the webhook.',
    body: message('WebhookLostMessage', [lostType], {
      type: 'object',
      properties: {
        fromCursor: text('The cursor of the last change that was processed for the webhook.', 40),
        toCursor: text('The cursor from which messages continue.', 40),
      },
      required: ['fromCursor', 'toCursor'],
    }),
  },
};

const header = (name: string, description: string, maxLength: number) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', maxLength },
});

/** The `webhooks` of OpenAPI 3.1: the messages that receivers get, and the responses that they should send. */
export function webhooksOf(components: Components): OpenApiObject {
  return Object.fromEntries(
    Object.entries(messages).map(([name, { summary, body }]) => [
      name,
      {
        post: {
          operationId: `${name}Message`,
          tags: ['webhooks'],
          summary,
          description: `${summary} It is signed according to Standard Webhooks.`,
          parameters: [
            header('webhook-id', 'The id of the message, the same in each attempt.', 50),
            header('webhook-timestamp', 'When the attempt was sent, in seconds since 1970.', 20),
            header('webhook-signature', 'One signature or, after a rotation, two: `v1,…`.', 200),
            header('X-Workgraph-Webhook', 'The id of the webhook.', 50),
          ],
          requestBody: {
            required: true,
            content: { 'application/json': { schema: components.print(body) } },
          },
          responses: {
            '2XX': { description: 'The message has arrived. Anything else is a failure.' },
            410: { description: 'The receiver is gone: the webhook is disabled.' },
          },
          security: [],
        },
      },
    ]),
  );
}
