import { raise } from './errors.ts';
import { idNoun } from '../model/sentences.ts';
import type { IdPrefix } from './ids.ts';

/** How a client names a resource under an issue, such as a comment. If it names the issue too, the issue must match. */
export interface ResourceName {
  id: string;
  issueKey?: string | null;
}

/** Throws `not_found` for an object that does not exist or has been deleted. */
export function raiseNotFound(prefix: IdPrefix, problem?: string): never {
  raise('not_found', `There is no such ${idNoun(prefix)}${problem ? `: ${problem}` : ''}.`);
}
