import { HealthDocument, ReadinessDocument } from '../operations.generated.ts';
import { limits } from '../../model/limits.ts';
import { item } from '../replies.ts';
import { route } from '../route.ts';
import { type Shape, shape, text } from '../shape.ts';

const status: Shape<{ status: string }> = shape('Status', { status: text(limits.name, 'status') });

/** GET /health: the process answers. */
export const health = route({
  method: 'GET',
  path: '/health',
  scope: 'public',
  summary: 'Liveness: the process answers.',
  parameters: {},
  operation: HealthDocument,
  variables: () => ({}),
  pick: 'health',
  reply: item(status),
  isProbe: true,
});

/** GET /healthz: the same under another path. */
export const healthz = route({
  method: 'GET',
  path: '/healthz',
  scope: 'public',
  summary: 'Liveness, under another path.',
  parameters: {},
  operation: HealthDocument,
  variables: () => ({}),
  pick: 'health',
  reply: item(status),
  isProbe: true,
});

/** GET /readyz: the database answers. */
export const readyz = route({
  method: 'GET',
  path: '/readyz',
  scope: 'public',
  summary: 'Readiness: the data store answers within 2000 ms.',
  parameters: {},
  operation: ReadinessDocument,
  variables: () => ({}),
  pick: 'readiness',
  reply: item(status),
  hasShortProblems: true,
  isProbe: true,
});
