import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { type App, isGraphqlJs, startApp } from '../support/app.ts';
import { metricsText, samplesOf } from '../support/metrics.ts';

let app: App;
beforeAll(async () => {
  app = await startApp({ settings: { METRICS_ADDRESS: '0' } });
});
afterAll(() => app.stop());

const requests = 'workgraph_request_duration_seconds_count';

it('the metrics count requests by API, route, operation and status', async () => {
  await app.request('GET', '/v1/teams/NOBODY');
  await app.graphql('query Mine { viewer { workspace { name } } }');
  await app.request('GET', '/health', { token: null });
  await app.request('GET', '/nowhere');
  await app.request('GET', '/v1/teams', { token: 'wg_wrong' });
  const counted = await samplesOf(app, requests);
  expect(Object.fromEntries(counted)).toEqual({
    'face="rest",route="/v1/teams/{teamCode}",operation="Team",status="404"': 1,
    'face="graphql",route="/graphql",operation="other",status="200"': 1,
    'face="rest",route="/health",operation="Health",status="200"': 1,
    'face="other",route="other",operation="other",status="404"': 1,
    'face="rest",route="/v1/teams",operation="Teams",status="401"': 1,
  });
});

it('the metrics get no new label from anything that clients write', async () => {
  const before = (await samplesOf(app, requests)).size;
  for (const name of ['A', 'B', 'C']) {
    await app.graphql(`query ${name} { viewer { scopes } }`);
    await app.request('GET', `/v1/teams/${name}NOBODY`);
    await app.request('GET', `/nowhere/${name}`);
  }
  expect((await samplesOf(app, requests)).size).toBe(before);
});

it('the metrics count statements and failed statements', async () => {
  const name = 'workgraph_statement_duration_seconds_count';
  const before = await samplesOf(app, name);
  const { statements } = await app.request('GET', '/v1/teams');
  const after = await samplesOf(app, name);
  expect((after.get('outcome="ok"') ?? 0) - (before.get('outcome="ok"') ?? 0)).toBeGreaterThanOrEqual(
    statements,
  );
});

it('the metrics count how often plans were reused and which executor answered', async () => {
  const runQuery = () => app.graphql('{ teams(first: 7) { nodes { code } } }');
  // The second time caches the document.
  await runQuery();
  await runQuery();
  const before = await samplesOf(app, 'workgraph_plan_cache_total');
  await runQuery();
  const after = await samplesOf(app, 'workgraph_plan_cache_total');
  const hits = (after.get('result="hit"') ?? 0) - (before.get('result="hit"') ?? 0);
  expect(hits).toBe(isGraphqlJs ? 0 : 1);
  expect((await samplesOf(app, 'workgraph_plan_cache_documents')).get('')).toBeGreaterThan(0);
  expect([...(await samplesOf(app, 'workgraph_queries_total')).keys()]).toEqual([
    'answered="compiled"',
    'answered="fallback_not_compilable"',
    'answered="fallback_bailed"',
  ]);
});

it('the metrics describe the pool, the event loop and the process', async () => {
  const pool = await samplesOf(app, 'workgraph_pool_connections');
  expect(pool.get('state="size"')).toBe(app.database.engine === 'embedded' ? 1 : 10);
  expect(pool.get('state="waiting"')).toBe(0);
  expect((await samplesOf(app, 'nodejs_eventloop_lag_p99_seconds')).size).toBe(1);
  expect((await samplesOf(app, 'process_resident_memory_bytes')).get('')).toBeGreaterThan(1_000_000);
});

it('the metrics name no workspace, no caller and no secret', async () => {
  const text = await metricsText(app);
  for (const secret of [app.token, app.workspaceId, app.ownerUserAccountId, 'NOBODY', 'Olive'])
    expect(text).not.toContain(secret);
});

it('the metrics are served on their own port, which serves nothing else', async () => {
  expect((await app.request('GET', '/metrics')).status).toBe(404);
  expect((await fetch(new URL('/', app.metricsUrl))).status).toBe(404);
  expect((await fetch(app.metricsUrl ?? '', { method: 'POST' })).status).toBe(404);
  expect((await fetch(app.metricsUrl ?? '')).headers.get('content-type')).toMatch(/^text\/plain; version=0/);
});

describe('the expressions', () => {
  const folder = join(import.meta.dirname, '../../deploy/monitoring');
  const dashboard = JSON.parse(readFileSync(join(folder, 'grafana-dashboard.json'), 'utf8')) as {
    panels: { title: string; targets: { expr: string }[] }[];
  };
  const alertsFile = join(folder, 'prometheus-alerts.yaml');
  const alerts = parse(readFileSync(alertsFile, 'utf8')) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  };
  const dashboardExpressions = dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => [title, expr] as const),
  );
  const alertExpressions = alerts.groups.flatMap(({ rules }) =>
    rules.map(({ alert, expr }) => [alert, expr] as const),
  );
  const operationsPage = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  const metricName = /\b(?:workgraph|nodejs|process)_\w+/g;

  /** The names of the metrics that the server has, by the names of their samples. */
  async function existingMetrics(): Promise<Map<string, string>> {
    const text = await metricsText(app);
    return new Map(
      Array.from(text.matchAll(/^# TYPE (\w+) (\w+)$/gm)).flatMap(([, name = '', type]) =>
        (type === 'histogram' ? ['_bucket', '_count', '_sum'] : ['']).map(
          (end) => [name + end, name] as const,
        ),
      ),
    );
  }

  it.each([
    ['dashboard', dashboardExpressions],
    ['alert rules', alertExpressions],
  ])('of the %s ask only for metrics, labels and values that exist', async (_, expressions) => {
    const names = await existingMetrics();
    const wrong = expressions.flatMap(([title, expr]) => {
      const metricNames = expr.match(metricName) ?? [];
      const rows = metricNames.map(
        (name) =>
          operationsPage.split('\n').find((line) => line.startsWith(`| \`${names.get(name)}\``)) ?? '',
      );
      const isDocumented = (word: string) =>
        ['job', 'instance', 'le'].includes(word) || rows.some((row) => row.includes(`\`${word}\``));
      const grouped = Array.from(expr.matchAll(/\bby \(([^)]+)\)/g), ([, labels = '']) =>
        labels.split(/,\s*/),
      );
      const matched = Array.from(expr.matchAll(/(\w+)!?=~?"/g), ([, label = '']) => label);
      // These two labels have many values, which are not documented one by one.
      const values = Array.from(expr.matchAll(/(\w+)="(\w+)"/g)).flatMap(([, label = '', value = '']) =>
        ['face', 'status'].includes(label) ? [] : [value],
      );
      const missing = [
        ...metricNames.filter((name) => !names.has(name)),
        ...[...grouped.flat(), ...matched, ...values].filter((word) => !isDocumented(word)),
      ];
      return missing.length > 0 || metricNames.length === 0 ? [[title, missing]] : [];
    });
    expect(wrong).toEqual([]);
  });

  it('of the dashboard show every metric of the service', async () => {
    const serviceMetrics = new Set(
      [...(await existingMetrics()).values()].filter((name) => name.startsWith('workgraph_')),
    );
    const names = await existingMetrics();
    const seen = new Set(
      dashboardExpressions.flatMap(([, expr]) => expr.match(metricName) ?? []).map((name) => names.get(name)),
    );
    expect([...serviceMetrics].filter((name) => !seen.has(name))).toEqual([]);
  });

  const promtool = spawnSync('promtool', ['--version']).status === 0 ? it : it.skip;
  promtool('are accepted by promtool', () => {
    const result = spawnSync('promtool', ['check', 'rules', alertsFile], { encoding: 'utf8' });
    expect(result.stderr + result.stdout).toContain('SUCCESS');
    const rules = dashboardExpressions.map(([, expr], index) => ({
      record: `panel_${index}`,
      expr: expr.replaceAll('$__rate_interval', '1m').replaceAll('$job', '.*'),
    }));
    const folder = mkdtempSync(join(tmpdir(), 'workgraph-panels-'));
    const file = join(folder, 'panels.yaml');
    writeFileSync(file, stringify({ groups: [{ name: 'panels', rules }] }));
    const panels = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect(panels.stderr + panels.stdout).toContain('SUCCESS');
  });
});
