import type { OpenStreams } from '../../live/open-streams.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import type { UnknownTokens } from '../limits/unknown-tokens.ts';
import type { WorkerLink } from './worker-link.ts';

/** What a worker counts. The limits hold for all workers together. */
interface Counts {
  readonly unknownTokens: UnknownTokens;
  readonly openStreams: OpenStreams;
  readonly rateLimiter: RateLimiter;
}

/** Sends the counts of this worker to the others, and adds theirs. */
export function joinWorkers(link: WorkerLink, { unknownTokens, openStreams, rateLimiter }: Counts): void {
  unknownTokens.onNote((caller) => link.noteUnknownToken(caller));
  openStreams.onChange((tokenId, change) => link.noteStreams(tokenId, change));
  link.reports
    .on('unknown token', ({ caller }) => unknownTokens.noteElsewhere(caller))
    .on('streams', ({ tokenId, change }) => openStreams.noteElsewhere(tokenId, change))
    .on('indebted', ({ debts }) => {
      for (const [caller, level] of debts) rateLimiter.noteObjectsLeft(caller, level);
    });
}
