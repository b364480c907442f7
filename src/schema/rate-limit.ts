import type { QuotaState, RateLimit as RateLimitState } from '../resolvers/context.ts';
import { builder } from './builder/builder.ts';

const Quota = builder.objectRef<QuotaState>('Quota');

Quota.implement({
  description: 'A quota of the token: a bucket that fills up evenly.',
  fields: (t) => ({
    limit: t.exposeInt('limit', { description: 'What the bucket holds when it is full.' }),
    remaining: t.exposeInt('remaining', { description: 'What is left in it.' }),
    resetUtc: t.expose('resetUtc', {
      type: 'DateTime',
      description: 'When it is full again, if nothing more is taken.',
    }),
  }),
});

export const RateLimit = builder.objectRef<RateLimitState>('RateLimit');

RateLimit.implement({
  description: 'What the token may still do, on both faces together; `docs/limits.md` has the rules.',
  fields: (t) => ({
    requests: t.expose('requests', {
      type: Quota,
      description: 'Requests, filled up within a minute; this one is taken already.',
    }),
    cost: t.expose('cost', {
      type: Quota,
      description:
        'Objects given back, filled up within an hour; those of this operation are taken after it.',
    }),
  }),
});
