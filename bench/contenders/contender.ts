import type { Facts } from '../facts.ts';
import type { Request } from '../http/connection.ts';
import type { Input } from '../workloads/workload.ts';

/** What a contender's process is started with. */
export interface Surroundings {
  readonly databaseUrl: string;
  readonly port: number;
  readonly token: string;
  /** An empty directory of its own. */
  readonly directory: string;
}

/** Sends one request and reads the JSON of its answer. */
export type Ask = (request: Request) => Promise<unknown>;

export interface Contender {
  readonly name: string;
  readonly title: string;
  command(surroundings: Surroundings): { args: string[]; env: Record<string, string> };
  /** How this contender is asked for a workload; undefined when it does not have it. */
  request(workload: string, input: Input): Request | undefined;
  /** Its answer in the names of the product's graph or REST face; what came as JSON when left out. */
  canonical?(workload: string, answer: unknown): unknown;
  /** What it must find out before it can make its requests. */
  prepare?(ask: Ask, facts: Facts): Promise<void>;
  /** Whether it answers at all; the face without a token when left out. */
  readonly readyPath?: string;
}
