import type { WebhookSecrets } from './secrets.ts';
import type { WebhookTargets } from './targets.ts';

/** The result of an attempt to deliver. */
export interface ReceiverResponse {
  /** The HTTP status; null if there was no answer. */
  readonly status: number | null;
  readonly ms: number;
  /** Why there was no answer, as a sentence. */
  readonly error: string | null;
  /** The first bytes of the answer's body, as text. */
  readonly head: string;
  /** The header `Retry-After`. */
  readonly retryAfter: string | null;
}

/** The part of a webhook that sending a message needs. */
export interface SendTarget {
  readonly id: string;
  readonly url: string;
  readonly secret: Buffer;
  readonly previousSecret: Buffer | null;
  readonly previousUntilUtc: Date | null;
}

/** The services that a request needs to manage webhooks. */
export interface WebhookSending {
  readonly targets: WebhookTargets;
  readonly secrets: WebhookSecrets;
  /** Signs a message and sends it once. */
  send(
    webhook: SendTarget,
    message: { readonly id: string; readonly body: string },
    timeoutMs: number,
  ): Promise<ReceiverResponse>;
  /** Makes the deliverer look for work, after a webhook or its deliveries have changed. */
  wake(): void;
}

/** Whether a status says that the message has arrived. */
export function isReceived({ status }: Pick<ReceiverResponse, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300;
}
