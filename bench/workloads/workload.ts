import type { Facts } from '../facts.ts';
import type { Random } from '../random.ts';

/** The variable part of a request, from which each contender makes its own request. */
export type Input = Readonly<Record<string, unknown>>;

export interface Workload {
  readonly id: string;
  readonly title: string;
  /**
   * The variable part of the next request. Contenders get the same `random`, so they read and write the same rows; `values` is of each
   * turn's own, so that a contender does not find the values that it is about to write.
   */
  readonly input: (random: Random, facts: Facts, values: Random) => Input;
  /**
   * The names of fields whose values differ at each request (times, new ids). They are removed from all levels of the
   * answers before these are compared.
   */
  readonly volatile?: readonly string[];
  /** For a mixed workload: the ids of other workloads with their weights. Each request belongs to one of them. */
  readonly mix?: Readonly<Record<string, number>>;
}
