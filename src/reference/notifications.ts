import { referenceChannel } from '../db/engine/engine.ts';
import type { Channels } from '../db/engine/listener.ts';
import type { ReferenceMemory } from './memory.ts';

/**
 * How a process reacts to the notification that another one has written reference data or tokens. It only makes changes
 * visible sooner: a change whose notification is lost, or that was made without the service, is found when the lease of
 * the reference data ends.
 */
export function referenceChannels(reference: Pick<ReferenceMemory, 'expireAll'>): Channels {
  return {
    [referenceChannel]: {
      onNotification: () => reference.expireAll(),
      onGap: () => reference.expireAll(),
    },
  };
}
