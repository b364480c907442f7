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
  unknownTokens.onNote = (address) => link.noteUnknownToken(address);
  link.onUnknownToken = (address) => unknownTokens.noteElsewhere(address);
  link.onDebt = (caller, level) => rateLimiter.noteObjectsLeft(caller, level);
  openStreams.onChange = (tokenId, change) => link.noteStreams(tokenId, change);
  link.onStreams = (tokenId, change) => openStreams.noteElsewhere(tokenId, change);
}
