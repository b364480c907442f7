import type { Deadline } from '../../db/engine/deadline.ts';
import { type LoggedRequest, withMeter } from '../../db/engine/meter.ts';
import { ReadAllowance } from '../../db/engine/read-allowance.ts';
import { maxAnswerBytes } from '../../executor/limits.ts';

interface LimitedWork {
  /** Undefined for a request that did not pass through admission. */
  readonly deadline: Deadline | undefined;
  /** The request itself. The work of streams and webhooks has none. */
  readonly loggedRequest?: LoggedRequest;
}

/** Does the work of a request, a stream or a webhook, which all have the same limits, and counts its statements. */
export function withRequestLimits<Result>(
  { deadline, loggedRequest }: LimitedWork,
  work: () => Promise<Result>,
): Promise<Result> {
  return withMeter(work, { deadline, loggedRequest, allowance: new ReadAllowance(maxAnswerBytes) });
}
