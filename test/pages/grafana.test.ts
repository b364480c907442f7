import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sharedApp, type SharedApp } from '../support/shared-app.ts';

interface Column {
  selector: string;
  text: string;
  type: 'timestamp' | 'number' | 'string';
}

interface Target {
  url: string;
  root_selector: string;
  columns: Column[];
}

interface Dashboard {
  panels: { title: string; targets: Target[] }[];
  templating: { list: { name: string; query: string; current?: { value: string } }[] };
}

const { panels, templating } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../examples/grafana-dashboard.json'), 'utf8'),
) as Dashboard;

const targets = panels.flatMap(({ title, targets }) => targets.map((target) => ({ title, ...target })));

/** The URL that Grafana requests for a time range, with the initial variables of the dashboard unless others are passed. */
function urlOf({ url }: Target, variables: Readonly<Record<string, string>> = {}): string {
  const initial = Object.fromEntries(
    templating.list.map(({ name, current }) => [name, current?.value ?? '']),
  );
  const values: Record<string, string> = {
    ...initial,
    '__from:date:YYYY-MM-DD': '2025-01-01',
    '__to:date:YYYY-MM-DD': new Date().toISOString().slice(0, 10),
    ...variables,
  };
  return url.replace(/\$\{([^}]+)\}/g, (_, name: string) => {
    const value = values[name] ?? values[name.replace(/:raw$/, '')];
    if (value === undefined) throw new Error(`The dashboard has no variable ${name}.`);
    return value;
  });
}

describe('the dashboard for Grafana', () => {
  let app: SharedApp;
  beforeAll(async () => {
    app = await sharedApp();
  });
  afterAll(async () => {
    await app?.stop();
  });

  const rowsOf = async (target: Target, variables?: Readonly<Record<string, string>>) => {
    const token = await app.tokenFor({ scopes: ['issues:read'] });
    const { status, body } = await app.request<Record<string, Record<string, unknown>[]>>(
      'GET',
      urlOf(target, variables),
      { token },
    );
    expect([target.url, status]).toEqual([target.url, 200]);
    return body[target.root_selector] ?? [];
  };

  it.each(targets)('reads columns that the answer has, for $title', async (target) => {
    const rows = await rowsOf(target);
    expect(rows.length).toBeGreaterThan(0);
    for (const { selector, type } of target.columns) {
      const values = rows.map((row) => row[selector]).filter((value) => value !== null);
      // If the answer did not have the column, its value would be undefined in each row.
      expect(values.length).toBeGreaterThan(0);
      for (const value of values) {
        expect(typeof value).toBe(type === 'number' ? 'number' : 'string');
        if (type === 'timestamp') expect(value).toMatch(/^\d{4}-\d{2}-\d{2}$/);
      }
    }
  });

  it('filters by team and changes the length of periods by its variables', async () => {
    const [throughput] = targets;
    if (!throughput) throw new Error('There is no panel.');
    const closed = (rows: readonly Record<string, unknown>[]) =>
      rows.reduce((sum, row) => sum + Number(row['closed']), 0);
    const all = await rowsOf(throughput);
    const one = await rowsOf(throughput, { filter: 'team_code=WEB', every: 'month' });
    expect(one.length).toBeLessThan(all.length);
    expect(closed(one)).toBeGreaterThan(0);
    expect(closed(one)).toBeLessThan(closed(all));
  });
});
