import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { type App, startApp } from '../support/app.ts';
import type { Settings } from '../../src/server/config.ts';

/** A span, as OTLP has it in JSON. */
interface SentSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
  status: { code?: number };
}

interface Export {
  resourceSpans: {
    resource: { attributes: SentSpan['attributes'] };
    scopeSpans: { spans: SentSpan[] }[];
  }[];
}

const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close().closeAllConnections();
});

/** Starts a collector, and records the exports that it receives. */
async function startCollector(status = 200): Promise<{ url: string; exports: Export[]; paths: string[] }> {
  const exports: Export[] = [];
  const paths: string[] = [];
  const server = createServer((req, res) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of req as AsyncIterable<Buffer>) parts.push(part);
      paths.push(req.url ?? '');
      exports.push(JSON.parse(Buffer.concat(parts).toString()) as Export);
      res.writeHead(status, { 'Content-Type': 'application/json' }).end('{}');
    })();
  });
  open.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, exports, paths };
}

/** The spans that a server sends while it does the work, and until it has stopped. */
async function spansOf(
  work: (app: App) => Promise<unknown>,
  settings: Settings = {},
): Promise<{ spans: SentSpan[]; exports: Export[] }> {
  const { url, exports, paths } = await startCollector();
  const app = await startApp({
    demo: true,
    settings: { OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/`, ...settings },
  });
  try {
    await work(app);
  } finally {
    await app.stop();
  }
  expect(new Set(paths)).toEqual(new Set(exports.length > 0 ? ['/v1/traces'] : []));
  const spans = exports.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
  );
  return { spans, exports };
}

const valueOf = ({ attributes }: Pick<SentSpan, 'attributes'>, key: string) => {
  const value = attributes.find((each) => each.key === key)?.value;
  return value?.stringValue ?? value?.intValue;
};

const traceId = '0af7651916cd43dd8448eb211c80319c';
const caller = 'b7ad6b7169203331';
const traceparent = (flags: string) => ({ traceparent: `00-${traceId}-${caller}-${flags}` });

describe('a traced server', () => {
  it('sends a span for a request, in it one for its operation, and in that one for each statement', async () => {
    let response: string | null = '';
    const { spans, exports } = await spansOf(async (app) => {
      const answer = await app.request('GET', '/v1/issues?page_size=2', { headers: traceparent('01') });
      expect(answer.status).toBe(200);
      response = answer.headers.get('traceresponse');
    });
    const [request, ...others] = spans.filter(({ kind }) => kind === 2);
    expect(others).toEqual([]);
    expect(request).toMatchObject({ name: 'GET /v1/issues', traceId, parentSpanId: caller });
    expect(response).toBe(`00-${traceId}-${request?.spanId}-01`);
    expect(request && valueOf(request, 'http.response.status_code')).toBe(200);
    const operations = spans.filter(({ name }) => name === 'query');
    expect(operations.map(({ parentSpanId }) => parentSpanId)).toEqual([request?.spanId]);
    const statements = spans.filter(({ name }) => name === 'postgresql');
    const inOperation = statements.filter(({ parentSpanId }) => parentSpanId === operations[0]?.spanId);
    expect(inOperation.length).toBeGreaterThan(0);
    expect(inOperation.map((span) => valueOf(span, 'db.query.text')).join('\n')).toMatch(/from "?issue"?/);
    for (const span of [...operations, ...statements]) {
      expect(BigInt(span.startTimeUnixNano)).toBeLessThanOrEqual(BigInt(span.endTimeUnixNano));
      expect(span.traceId).toBe(traceId);
    }
    const [resource] = exports.flatMap(({ resourceSpans }) => resourceSpans.map((each) => each.resource));
    expect(resource && valueOf(resource, 'service.name')).toBe('workgraph');
  });

  it('traces a refused request and an operation over a WebSocket, and shows no token', async () => {
    const { spans } = await spansOf(
      async (app) => {
        await app.graphql('query Named { nothing }');
        const client = createClient({
          url: `${app.url.replace('http', 'ws')}/graphql`,
          webSocketImpl: WebSocket,
          connectionParams: { Authorization: `Bearer ${app.token}` },
        });
        for await (const _ of client.iterate({ query: 'query Socketed { teams { totalCount } }' }));
        await client.dispose();
      },
      { OTEL_SERVICE_NAME: 'ours' },
    );
    expect(spans.filter(({ kind }) => kind === 2).map(({ name }) => name)).toEqual([
      'POST /graphql',
      'POST /graphql',
    ]);
    const operations = spans.filter(({ name }) => name === 'query');
    expect(operations.map((span) => valueOf(span, 'graphql.operation.name'))).toEqual(['Socketed']);
    expect(JSON.stringify(spans)).not.toContain('wg_');
  });

  it.each([
    ['the caller has decided not to', { headers: traceparent('00') }, {}],
    ['the fraction is 0', {}, { OTEL_TRACES_SAMPLER_ARG: '0' }],
  ])('sends nothing where %s', async (_why, sent, settings) => {
    const { spans } = await spansOf((app) => app.request('GET', '/v1/teams', sent), settings);
    expect(spans).toEqual([]);
  });

  it('follows a caller that has decided to trace, whatever the fraction is', async () => {
    const { spans } = await spansOf(
      (app) => app.request('GET', '/v1/teams', { headers: traceparent('01') }),
      { OTEL_TRACES_SAMPLER_ARG: '0' },
    );
    expect(spans.length).toBeGreaterThan(1);
  });

  it('serves and stops as usual where the collector refuses spans or is not there', async () => {
    const { url } = await startCollector(400);
    const closedCollector = await startCollector();
    open.pop()?.close();
    for (const endpoint of [url, closedCollector.url]) {
      const app = await startApp({ demo: true, settings: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } });
      expect((await app.request('GET', '/v1/teams')).status).toBe(200);
      await app.stop();
    }
  });
});
