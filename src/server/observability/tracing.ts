import { randomUUID } from 'node:crypto';
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace as traceApi,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { OperationDefinitionNode } from 'graphql';
import { onStatement, type SentStatement, type LoggedRequest } from '../../db/engine/meter.ts';
import type { Config } from '../config.ts';
import type { ServerRequest } from '../http/request.ts';
import type { Trace } from './trace.ts';

/** How long the collector may take. A server that stops waits for it once. */
const collectorMs = 2_000;

/** The longest text of a statement in a span. */
const maxSqlLength = 2_000;

/**
 * Traces of requests for OpenTelemetry: a span for each request that is traced, in it one for its operation, and in that
 * one for each SQL statement. Spans contain no values that a client sent, except for the path and the name of its operation.
 */
export class Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  readonly #stopListening: () => void;
  readonly #fraction: number;
  /** The current span of a request, which is the parent of its statements. */
  readonly #current = new WeakMap<LoggedRequest, Context>();

  constructor({ endpoint, fraction, serviceName }: NonNullable<Config['tracing']>) {
    this.#fraction = fraction;
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({
        'service.name': serviceName,
        'service.instance.id': randomUUID(),
      }),
      // `begin` chooses. A sampler would be asked with a span for every request, which costs a tenth of a quick one.
      sampler: new AlwaysOnSampler(),
      // Its queue is bounded: spans are dropped while the collector does not answer.
      spanProcessors: [
        new BatchSpanProcessor({
          exporter: new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, timeoutMillis: collectorMs }),
        }),
      ],
    });
    this.#tracer = this.#provider.getTracer('workgraph');
    this.#stopListening = onStatement((statement) => this.#statement(statement));
  }

  /**
   * Begins the span of a request. Returns a function that ends it with the status of the answer, or undefined if the request
   * is not traced.
   */
  begin(request: ServerRequest): ((status: number) => void) | undefined {
    const caller = request.trace;
    const isTraced = caller ? caller.isSampled : Math.random() < this.#fraction;
    if (!isTraced) return undefined;
    const parent = caller ? traceApi.setSpanContext(ROOT_CONTEXT, contextOf(caller)) : ROOT_CONTEXT;
    const span = this.#tracer.startSpan(request.method, { kind: SpanKind.SERVER }, parent);
    const { traceId, spanId } = span.spanContext();
    request.trace = {
      logged: { traceId, spanId, ...(caller && { parentId: caller.logged.parentId }) },
      response: `00-${traceId}-${spanId}-01`,
      isSampled: true,
    };
    const inRequest = traceApi.setSpan(parent, span);
    this.#current.set(request, inRequest);
    request.traced = (operation, run) => this.#operation(request, inRequest, operation, run);
    return (status) => {
      const { method, path, labels, requestId, operationName } = request;
      const isKnown = labels.route !== 'other';
      span.updateName(isKnown ? `${method} ${labels.route}` : method);
      span.setAttributes({
        'http.request.method': method,
        'http.response.status_code': status,
        'url.path': path.slice(0, 200),
        ...(isKnown && { 'http.route': labels.route }),
        ...(operationName && { 'graphql.operation.name': operationName.slice(0, 100) }),
        'workgraph.request_id': requestId,
      });
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    };
  }

  /** Sends the spans that have ended, and ends. */
  async stop(): Promise<void> {
    this.#stopListening();
    // A collector that does not answer must not keep the server from stopping.
    await this.#provider.shutdown().catch(() => undefined);
  }

  async #operation<Result>(
    request: LoggedRequest,
    parent: Context,
    { operation, name }: OperationDefinitionNode,
    run: () => Promise<Result>,
  ): Promise<Result> {
    const span = this.#tracer.startSpan(operation, undefined, parent);
    span.setAttributes({
      'graphql.operation.type': operation,
      ...(name && { 'graphql.operation.name': name.value.slice(0, 100) }),
    });
    this.#current.set(request, traceApi.setSpan(parent, span));
    try {
      return await run();
    } finally {
      this.#current.set(request, parent);
      span.end();
    }
  }

  #statement({ sql, tookMs, failed, loggedRequest }: SentStatement): void {
    const parent = loggedRequest && this.#current.get(loggedRequest);
    if (!parent) return;
    const endedMs = performance.timeOrigin + performance.now();
    const span: Span = this.#tracer.startSpan(
      'postgresql',
      {
        kind: SpanKind.CLIENT,
        startTime: endedMs - tookMs,
        attributes: { 'db.system.name': 'postgresql', 'db.query.text': sql.slice(0, maxSqlLength) },
      },
      parent,
    );
    if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(endedMs);
  }
}

function contextOf({ logged: { traceId, parentId = '' }, isSampled }: Trace) {
  return {
    traceId,
    spanId: parentId,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
  };
}
