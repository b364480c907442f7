import type { Facts } from '../facts.ts';
import type { Random } from '../random.ts';

/** What varies from request to request; each contender makes its own request of it. */
export type Input = Readonly<Record<string, unknown>>;

export interface Workload {
  readonly id: string;
  readonly title: string;
  readonly input: (random: Random, facts: Facts) => Input;
  /**
   * What of an answer cannot be the same twice (times, new ids) and is left out when answers are compared, each by
   * the name of its field anywhere in the answer.
   */
  readonly volatile?: readonly string[];
  /** Chosen by weight for each request, in place of an input of its own. */
  readonly mix?: Readonly<Record<string, number>>;
}
