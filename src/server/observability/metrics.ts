import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Database } from '../../db/engine/engine.ts';
import { onStatement } from '../../db/engine/meter.ts';
import { compiledCounts } from '../../executor/compiled/run/executor.ts';

/** The labels of a request. Each has few values, whatever clients send. */
export interface RequestLabels {
  face: 'graphql' | 'rest' | 'files' | 'pages' | 'other';
  /** The path of an endpoint with its braces; `other` for unknown paths. */
  route: string;
  /** The name of an operation of this server; `other` for operations of clients. */
  operation: string;
}

/** The buckets of durations, fine enough that a quantile read from them is wrong by less than half. */
const requestSeconds = [
  0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1,
  1.5, 2, 3, 5, 7.5, 10,
];
const statementSeconds = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const loopPrecisionMs = 20;

/** A number that is read with each scrape, or several with the values of one label. */
export type ReadValues = () => number | Readonly<Record<string, number>>;

interface MetricDeclaration {
  readonly name: string;
  readonly help: string;
  /** The name of the label. */
  readonly label?: string;
  readonly read: ReadValues;
  /** How the values of several workers become one; their sum by default. */
  readonly ofWorkers?: 'max' | 'min';
}

/** The metrics of this process for Prometheus. They contain no workspace, no caller and no text of a client. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Histogram<'face' | 'route' | 'operation' | 'status'>;
  readonly #stopListening: () => void;

  constructor() {
    const registers = [this.#registry];
    this.#requests = new Histogram({
      name: 'workgraph_request_duration_seconds',
      help: 'Requests, from their headers to the end of their answer; status 499 where the client went away',
      labelNames: ['face', 'route', 'operation', 'status'],
      buckets: requestSeconds,
      registers,
    });
    const statements = new Histogram({
      name: 'workgraph_statement_duration_seconds',
      help: 'SQL statements, from sending to the last row; begin and commit are not counted',
      labelNames: ['outcome'],
      buckets: statementSeconds,
      registers,
    });
    this.#stopListening = onStatement(({ tookMs, failed }) =>
      statements.observe({ outcome: failed ? 'failed' : 'ok' }, tookMs / 1_000),
    );
    this.counter({
      name: 'workgraph_queries_total',
      help: 'Queries by executor: the compiled one, or graphql-js because there is no plan or the plan failed',
      label: 'answered',
      read: () => ({
        compiled: compiledCounts.answered,
        fallback_not_compilable: compiledCounts.notCompilable,
        fallback_bailed: compiledCounts.bailed,
      }),
    });
    this.counter({
      name: 'workgraph_plan_cache_total',
      help: 'Plans of operations: found, or compiled because there was none',
      label: 'result',
      read: () => ({ hit: compiledCounts.planHits, miss: compiledCounts.planMisses }),
    });
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: loopPrecisionMs });
  }

  /** The number of database connections, and of callers that wait for one. */
  watchPool(database: Database): void {
    this.gauge({
      name: 'workgraph_pool_connections',
      help: 'Connections to the database: open, idle, at most; and requests that wait for one',
      label: 'state',
      read: () => ({ ...database.load() }),
    });
  }

  count({ face, route, operation }: RequestLabels, status: number, tookMs: number): void {
    this.#requests.observe({ face, route, operation, status }, tookMs / 1_000);
  }

  /** A number that goes up and down. */
  gauge({ name, help, label, read, ofWorkers }: MetricDeclaration): void {
    const gauge = new Gauge({
      name,
      help,
      ...(label && { labelNames: [label] }),
      ...(ofWorkers && { aggregator: ofWorkers }),
      registers: [this.#registry],
      collect: () => forEachValue(read(), label, (labels, value) => gauge.set(labels, value)),
    });
  }

  /** A number that only grows and is counted elsewhere. */
  counter({ name, help, label, read }: MetricDeclaration): void {
    const counter = new Counter({
      name,
      help,
      ...(label && { labelNames: [label] }),
      registers: [this.#registry],
      collect: () => {
        counter.reset();
        forEachValue(read(), label, (labels, value) => counter.inc(labels, value));
      },
    });
  }

  /** Durations in seconds that are observed elsewhere, by the values of one label. */
  durations({
    name,
    help,
    label,
  }: Omit<MetricDeclaration, 'read'> & { label: string }): (of: string, seconds: number) => void {
    const histogram = new Histogram({
      name,
      help,
      labelNames: [label],
      buckets: requestSeconds,
      registers: [this.#registry],
    });
    return (value, seconds) => histogram.observe({ [label]: value }, seconds);
  }

  /** All metrics in the text format of Prometheus, and its media type. */
  async print(): Promise<{ contentType: string; text: string }> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  /** All metrics as values, to be added to those of other processes. */
  snapshot(): ReturnType<Registry['getMetricsAsJSON']> {
    return this.#registry.getMetricsAsJSON();
  }

  close(): void {
    this.#stopListening();
    this.#registry.clear();
  }
}

function forEachValue(
  values: ReturnType<ReadValues>,
  label: string | undefined,
  set: (labels: Record<string, string>, value: number) => void,
): void {
  if (typeof values === 'number') set({}, values);
  else for (const [value, number] of Object.entries(values)) set(label ? { [label]: value } : {}, number);
}
