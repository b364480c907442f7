import { createHmac } from 'node:crypto';

/** What is sent to a receiver: the id, the same in each attempt, and the body. */
export interface WebhookMessage {
  readonly id: string;
  readonly body: string;
}

/**
 * The headers by which a receiver knows that a message is genuine (Standard Webhooks). During a rotation there are two secrets, and
 * so two signatures.
 */
export function signatureHeaders(
  { id, body }: WebhookMessage,
  secrets: readonly Buffer[],
  now: Date,
): Record<string, string> {
  const timestamp = Math.floor(now.getTime() / 1_000);
  const signatures = secrets.map((secret) => {
    const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
    return `v1,${signature}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}

/** All headers of a message of a webhook. */
export function messageHeaders(
  webhookId: string,
  ...signing: Parameters<typeof signatureHeaders>
): Record<string, string> {
  return {
    'Content-Type': 'application/json; charset=utf-8',
    'User-Agent': 'workgraph',
    'X-Workgraph-Webhook': webhookId,
    ...signatureHeaders(...signing),
  };
}
