import type { QuotaState, RateLimit as RateLimitState } from '../resolvers/context.ts';
import { builder } from './builder/builder.ts';

const Quota = builder.objectRef<QuotaState>('Quota');

Quota.implement({
  description: 'A quota of the token. It refills steadily.',
  scope: 'inherited',
  fields: (t) => ({
    limit: t.exposeInt('limit', { description: 'The size of the quota.' }),
    remaining: t.exposeInt('remaining', { description: 'How much of the quota is left.' }),
    resetUtc: t.expose('resetUtc', {
      type: 'DateTime',
      description: 'When the quota is full again if nothing more is used.',
    }),
  }),
});

export const RateLimit = builder.objectRef<RateLimitState>('RateLimit');

RateLimit.implement({
  description:
    'The remaining quotas of the token, which GraphQL and REST share. `docs/limits.md` explains the rules.',
  scope: 'inherited',
  fields: (t) => ({
    requests: t.expose('requests', {
      type: Quota,
      description:
        'The quota of requests. An empty quota is full again within a minute. The current request is already deducted.',
    }),
    cost: t.expose('cost', {
      type: Quota,
      description:
        'The quota of returned objects. An empty quota is full again within an hour. The objects of the current operation are deducted after it has run.',
    }),
  }),
});
