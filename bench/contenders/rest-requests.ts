import type { Request } from '../http/connection.ts';
import { token } from '../dataset/fill.ts';
import { kindOf } from '../workloads/all.ts';
import type { Input } from '../workloads/workload.ts';

/** The request of a REST workload, as in the specification; undefined if the workload is not REST. */
export function restRequest(workload: string, input: Input): Request | undefined {
  const { key, body } = input as { key?: string; body?: object };
  const headers = { Authorization: `Bearer ${token}` };
  switch (kindOf(workload)) {
    case 'W6':
      return { method: 'GET', path: `/v1/issues/${key}/comments?page_size=100`, headers };
    case 'W7':
      return { method: 'PATCH', path: `/v1/issues/${key}`, headers, body: JSON.stringify(body) };
    case 'W10':
      return { method: 'GET', path: '/health' };
    default:
      return undefined;
  }
}
