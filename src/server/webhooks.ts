import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { Database } from '../db/engine/engine.ts';
import type { OperationContext } from '../executor/run/execute.ts';
import { Deliverer } from '../live/webhooks/deliverer.ts';
import { WebhookClient } from '../live/webhooks/webhook-client.ts';
import { attemptMs } from '../live/webhooks/attempts.ts';
import { messageHeaders } from '../live/webhooks/sign.ts';
import type { Principal } from '../resolvers/context.ts';
import type { Chore } from '../resolvers/housekeeping.ts';
import { encodeId } from '../resolvers/ids.ts';
import { secretsUnderOtherKeys } from '../resolvers/webhooks/re-encryption.ts';
import { WebhookSecrets } from '../resolvers/webhooks/secrets.ts';
import type { SendTarget, ReceiverResponse, WebhookSending } from '../resolvers/webhooks/sending.ts';
import { WebhookTargets } from '../resolvers/webhooks/targets.ts';
import type { Config } from './config.ts';
import type { Admission } from './limits/admission.ts';
import { withRequestLimits } from './limits/request-limits.ts';
import { readSigningKeys } from './signing-keys.ts';

type WebhooksConfig = Partial<Pick<Config, 'webhookNetworks' | 'signingKeys' | 'dataDir'>>;

/** The webhooks of a process: requests manage them with `sending`, and the deliverer sends messages to them. */
export class Webhooks {
  readonly sending: WebhookSending;
  readonly #client: WebhookClient;
  readonly #hasSeveralKeys: boolean;
  #deliverer: Deliverer | undefined;

  constructor(config: WebhooksConfig) {
    const targets = new WebhookTargets(config.webhookNetworks);
    this.#hasSeveralKeys = (config.signingKeys ?? []).length > 1;
    // The keys are read, or the first one created, only when they are needed: many processes have no webhook.
    let opened: WebhookSecrets | undefined;
    const secrets = () => (opened ??= new WebhookSecrets(readSigningKeys(config)));
    const client = new WebhookClient({ targets, withinMs: attemptMs });
    this.#client = client;
    this.sending = {
      targets,
      get secrets() {
        return secrets();
      },
      send: async (webhook, message, timeoutMs) => {
        const now = new Date();
        const signing = secretsOf(secrets(), webhook, now);
        if (!signing) return undecryptable;
        const headers = messageHeaders(encodeId('webhook', webhook.id), message, signing, now);
        return client.send(webhook.url, headers, message.body, timeoutMs);
      },
      wake: () => this.#deliverer?.wake(),
    };
  }

  /** Starts the deliverer. `contextOf` makes the context of a read with the rights of a webhook. */
  start({
    database,
    schema,
    logger,
    admission,
    contextOf,
  }: {
    database: Database;
    schema: GraphQLSchema;
    logger: Logger;
    admission: Admission;
    contextOf: (principal: Principal) => OperationContext;
  }): Deliverer {
    this.#deliverer = new Deliverer({
      database,
      schema,
      logger,
      sending: this.sending,
      readAs: (principal, work) =>
        withRequestLimits({ deadline: admission.newDeadline() }, () => work(contextOf(principal))),
    });
    return this.#deliverer;
  }

  /** The chores of the janitor that concern webhooks and need the keys. With a single key there are none. */
  choresOf(database: Database): readonly Chore[] {
    return this.#hasSeveralKeys ? [secretsUnderOtherKeys(database, this.sending.secrets)] : [];
  }

  /** The attempts of this process by outcome. */
  get counts(): Deliverer['counts'] {
    return this.#deliverer?.counts ?? { delivered: 0, failed: 0 };
  }

  /** The number of webhooks to which this process is delivering. */
  get serving(): number {
    return this.#deliverer?.serving ?? 0;
  }

  async close(): Promise<void> {
    await this.#deliverer?.close();
    this.#client.close();
  }
}

const undecryptable: ReceiverResponse = {
  status: null,
  ms: 0,
  error:
    'None of the keys decrypts the secret: add the key that encrypted it to SIGNING_KEYS again, or rotate the secret.',
  head: '',
  retryAfter: null,
};

/** The secret, and during a rotation the one before it; undefined if no key opens the secret. */
function secretsOf(secrets: WebhookSecrets, webhook: SendTarget, now: Date): Buffer[] | undefined {
  const { id, secret, previousSecret, previousUntilUtc } = webhook;
  const newest = secrets.decrypt(secret, id);
  if (!newest) return undefined;
  const isRotating = previousSecret !== null && previousUntilUtc !== null && previousUntilUtc > now;
  const previous = isRotating ? secrets.decrypt(previousSecret, id) : undefined;
  return previous ? [newest, previous] : [newest];
}
