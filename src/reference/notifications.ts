import type { Channels } from '../db/engine/listener.ts';
import type { ReferenceMemory } from './memory.ts';

/**
 * The channel on which PostgreSQL names a workspace whose reference data or tokens were changed by any process. It only makes
 * changes visible sooner: a change whose notification is lost is found when the lease of the reference data ends.
 */
export function referenceChannels(reference: Pick<ReferenceMemory, 'expire' | 'expireAll'>): Channels {
  return {
    workgraph_reference: {
      onNotification: (workspaceId) => reference.expire(workspaceId),
      onGap: () => reference.expireAll(),
    },
  };
}
