import type { Facts } from '../facts.ts';
import type { Input } from '../workloads/workload.ts';

/** The variables of a page for a server whose cursors are positions in JSON. */
export function deepCursor(input: Input): Input {
  const { after } = input as { after?: Facts['deep'][number] };
  if (!after) return {};
  return { after: Buffer.from(JSON.stringify([after.createdUtc, after.id])).toString('base64url') };
}
