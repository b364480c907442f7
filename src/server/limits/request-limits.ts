import { withMeter } from '../../db/engine/meter.ts';
import { ReadAllowance } from '../../db/engine/read-allowance.ts';
import { maxAnswerBytes } from '../../executor/limits.ts';
import type { Admission } from './admission.ts';

/** Does work that belongs to no request, such as that of streams and webhooks, within the limits of a request. */
export function withRequestLimits<Result>(
  admission: Pick<Admission, 'newDeadline'>,
  work: () => Promise<Result>,
): Promise<Result> {
  return withMeter(work, { deadline: admission.newDeadline(), allowance: new ReadAllowance(maxAnswerBytes) });
}
