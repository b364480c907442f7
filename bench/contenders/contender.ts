import type { Facts } from '../facts.ts';
import type { Request } from '../http/connection.ts';
import type { Input } from '../workloads/workload.ts';

/** How a contender's process is started. */
export interface Command {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The environment in which a contender's process is started. */
export interface Surroundings {
  readonly databaseUrl: string;
  readonly port: number;
  readonly token: string;
  /** An empty directory for the contender. */
  readonly directory: string;
}

/** Sends a request and returns the JSON of the answer. */
export type SendRequest = (request: Request) => Promise<unknown>;

export interface Contender {
  readonly name: string;
  readonly title: string;
  /** Takes part only if `--contenders` names it. */
  readonly isOptional?: boolean;
  command(surroundings: Surroundings): Command | Promise<Command>;
  /** The request of this contender for a workload; undefined if it does not have the workload. */
  request(workload: string, input: Input): Request | undefined;
  /**
   * Converts an answer to the field names of the product's GraphQL or REST API. By default the answer is not changed.
   */
  canonical?(workload: string, answer: unknown): unknown;
  /** Finds out what the contender needs to make its requests. */
  prepare?(send: SendRequest, facts: Facts): Promise<void>;
  /** The path that is requested to find out whether the server answers; by default that of its API, without a token. */
  readonly readyPath?: string;
}
