import { builder } from './builder/builder.ts';

export const Health = builder.objectRef<{ status: string }>('Health');
Health.implement({
  description: 'That the process answers.',
  fields: (t) => ({ status: t.exposeString('status', { description: 'Always `ok`.' }) }),
});

export const Readiness = builder.objectRef<{ status: string }>('Readiness');
Readiness.implement({
  description:
    'That the data store answers; when it does not within 2,000 ms, there is the error UNAVAILABLE instead.',
  fields: (t) => ({ status: t.exposeString('status', { description: 'Always `ok`.' }) }),
});
