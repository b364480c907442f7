import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sharedApp, type SharedApp } from '../support/shared-app.ts';

let app: SharedApp;
beforeAll(async () => {
  app = await sharedApp();
});
afterAll(() => app.stop());

interface Dashboard {
  viewer: { workspace: { name: string } };
  teams: {
    totalCount: number;
    nodes: {
      code: string;
      projects: { nodes: unknown[] };
      issues: { totalCount: number; nodes: unknown[] };
    }[];
  };
}

it('the first query of GraphiQL runs on the demo as written, with a number of statements bounded by its depth', async () => {
  const query = readFileSync(join(import.meta.dirname, '../../docs/queries/dashboard.graphql'), 'utf8');
  const answer = await app.graphql<Dashboard>(query);
  expect(answer.body.errors).toBeUndefined();
  const { teams } = answer.body.data ?? { teams: { totalCount: 0, nodes: [] } };
  expect(teams.totalCount).toBeGreaterThan(1);
  expect(
    teams.nodes.some(({ issues, projects }) => issues.nodes.length > 0 && projects.nodes.length > 0),
  ).toBe(true);
  expect(answer.statements).toBeLessThanOrEqual(20);
});
