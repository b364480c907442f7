import { builder } from './builder/builder.ts';

export const Health = builder.objectRef<{ status: string }>('Health');
Health.implement({
  description: 'The result of the health check.',
  scope: 'inherited',
  fields: (t) => ({ status: t.exposeString('status', { description: 'Always `ok`.' }) }),
});

export const Readiness = builder.objectRef<{ status: string }>('Readiness');
Readiness.implement({
  description:
    'The result of the readiness check. If the database does not answer within 2,000 ms, the query fails with UNAVAILABLE instead.',
  scope: 'inherited',
  fields: (t) => ({ status: t.exposeString('status', { description: 'Always `ok`.' }) }),
});
