import type { App, RequestOptions } from '../support/app.ts';

type Input = Record<string, unknown>;

export interface WebhookRead {
  id: string;
  url: string;
  state: string;
  disabledReason: string | null;
  failures: number;
  waitingCount: number;
  backlog: number;
  revision: number;
  nextAttemptUtc: string | null;
  [field: string]: unknown;
}

export const webhookFields = `id url description eventTypes teamId hasImports state disabledReason scopes userAccountId failures
  lastSuccessUtc nextAttemptUtc backlog waitingCount previousSecretUntilUtc createdUtc updatedUtc revision`;

const selections = {
  webhookCreate: `secret webhook { ${webhookFields} }`,
  webhookUpdate: `webhook { ${webhookFields} }`,
  webhookDelete: 'deletedWebhookId',
  webhookSecretRotate: `secret webhook { ${webhookFields} }`,
  webhookPing: `isReceived status ms error head webhook { ${webhookFields} }`,
  webhookDeliveryRedeliver: 'count',
} as const;

type Payload = Input & { webhook: WebhookRead; secret: string; count: number };

/** Manages webhooks over GraphQL. */
export function webhookCalls(app: Pick<App, 'graphql'>, sent?: RequestOptions) {
  const send = (name: keyof typeof selections, input: Input) => {
    const type = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}Input`;
    return app.graphql<Record<string, Payload>>(
      `mutation ($input: ${type}!) { ${name}(input: $input) { ${selections[name]} } }`,
      { input },
      sent,
    );
  };
  return {
    call: async (name: keyof typeof selections, input: Input): Promise<Payload> => {
      const { body } = await send(name, input);
      const payload = body.data?.[name];
      if (!payload) throw new Error(JSON.stringify(body.errors));
      return payload;
    },
    refusalOf: async (name: keyof typeof selections, input: Input) => {
      const { body } = await send(name, input);
      const [error] = body.errors ?? [];
      if (!error) throw new Error(`${name} was not refused`);
      const { code, errors = [] } = error.extensions as {
        code: string;
        errors?: { field: string; message: string }[];
      };
      return { code, message: error.message, fields: errors.map(({ field }) => field) };
    },
    read: async (id: string): Promise<WebhookRead | undefined> => {
      const { body } = await app.graphql<{ webhooks: { nodes: WebhookRead[] } }>(
        `query ($id: ID!) { webhooks(filter: { id: { eq: $id } }) { nodes { ${webhookFields} } } }`,
        { id },
        sent,
      );
      if (body.errors) throw new Error(JSON.stringify(body.errors));
      return body.data?.webhooks.nodes[0];
    },
    deliveries: async (id: string, filter: Input = {}) => {
      const { body } = await app.graphql<{ webhooks: { nodes: { deliveries: { nodes: Input[] } }[] } }>(
        `query ($id: ID!, $filter: WebhookDeliveryFilter) { webhooks(filter: { id: { eq: $id } }) { nodes {
          deliveries(filter: $filter) { nodes { id changeId eventType issueId state attemptCount
            attempts { utc status ms error head } nextAttemptUtc body createdUtc } } } } }`,
        { id, filter },
        sent,
      );
      if (body.errors) throw new Error(JSON.stringify(body.errors));
      return body.data?.webhooks.nodes[0]?.deliveries.nodes ?? [];
    },
  };
}
