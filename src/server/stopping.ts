import { type Address, urlOf } from './http/listening.ts';

/** The answer of the readiness probe when a server is stopping. */
export const stoppingMessage = 'The server is stopping.';

/**
 * Whether the process that listens at an address is a server of this service that is about to stop. Sends it a request, and
 * waits for half a second at most.
 */
export async function isStoppingAt(address: Address): Promise<boolean> {
  try {
    const answer = await fetch(`${urlOf(address)}/readyz`, { signal: AbortSignal.timeout(500) });
    const body: unknown = await answer.json();
    return answer.status === 503 && (Object(body) as { detail?: unknown }).detail === stoppingMessage;
  } catch {
    return false;
  }
}
