import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'graphql';
import type { Answer } from '../support/app.ts';
import { isGraphqlJs } from '../support/chosen-executor.ts';
import { sharedApp, type SharedApp } from '../support/shared-app.ts';

const docs = join(import.meta.dirname, '../../docs');
const page = readFileSync(join(docs, 'graph.md'), 'utf8');
const files = readdirSync(join(docs, 'queries')).toSorted();
const queryOf = (file: string) => readFileSync(join(docs, 'queries', file), 'utf8');

let app: SharedApp;
beforeAll(async () => {
  app = await sharedApp();
});
afterAll(() => app.stop());

/**
 * The number of SQL statements of each: with the compiled executor, which has reference data in memory, and with the
 * graphql-js executor. It depends on how deep a query goes and on what it selects, never on the number of rows.
 */
const statementCounts: Readonly<Record<string, readonly [compiled: number, graphqlJs: number]>> = {
  'dashboard.graphql': [5, 15],
  'deliveries.graphql': [2, 9],
  'due.graphql': [2, 4],
  'issue.graphql': [8, 15],
  'pages.graphql': [2, 3],
  'plate.graphql': [2, 5],
  'roadmap.graphql': [2, 9],
  'search.graphql': [2, 4],
  'trends.graphql': [3, 5],
  'triage.graphql': [2, 5],
  'workload.graphql': [2, 3],
};
const statementsOf = (file: string) => statementCounts[file]?.[isGraphqlJs ? 1 : 0];

/** Paths that may be empty in the demo. */
const mayBeEmpty: Readonly<Record<string, readonly string[]>> = {
  'issue.graphql': ['issue.parent', 'issue.agentThread', 'issue.comments.nodes.replies.nodes'],
  // The history of the demo is complete.
  'trends.graphql': ['issueTrend.historySinceUtc'],
};

describe('the queries of the documentation', () => {
  it('are the eleven of the page', () => {
    expect(files).toEqual(Object.keys(statementCounts));
    for (const file of files) expect(page).toContain(`(queries/${file})`);
  });

  it.each(files)('%s returns data of the demo workspace, in a fixed number of statements', async (file) => {
    const answer = await ask(queryOf(file));
    expect(answer.statements).toBe(statementsOf(file));
    const empty = emptyPaths(answer.body.data).filter((path) => !mayBeEmpty[file]?.includes(path));
    expect(empty).toEqual([]);
  });

  it.each(files)('%s states its purpose in the first line', (file) => {
    expect(queryOf(file)).toMatch(/^# [A-Z].+[.]\n/);
    expect(parse(queryOf(file)).definitions).toHaveLength(1);
  });
});

describe('the dashboard', () => {
  it('takes the same number of statements for ten rows of each list as for a hundred', async () => {
    const query = queryOf('dashboard.graphql');
    for (const size of [10, 100]) {
      const { statements } = await ask(query.replaceAll(/first: \d+/g, `first: ${size}`));
      expect(statements).toBe(statementsOf('dashboard.graphql'));
    }
  });

  it('takes one more statement for the total of each list without a stored count', async () => {
    const query = queryOf('dashboard.graphql');
    const counted = query.replaceAll(/(projects|comments)(\(first: \d\)) {/g, '$1$2 { totalCount');
    expect((await ask(counted)).statements).toBe((await ask(query)).statements + (isGraphqlJs ? 1 : 0));
  });
});

async function ask(query: string): Promise<Answer<{ data?: unknown }>> {
  const answer = await app.graphql(query);
  expect(answer.body.errors).toBeUndefined();
  return answer;
}

/** The paths whose values are null or empty in all rows. */
function emptyPaths(data: unknown): string[] {
  const filled = new Map<string, boolean>();
  const visit = (value: unknown, path: string) => {
    const isFilled = value !== null && !(Array.isArray(value) && value.length === 0);
    filled.set(path, (filled.get(path) ?? false) || isFilled);
    if (Array.isArray(value)) for (const each of value) visit(each, path);
    else if (typeof value === 'object' && value !== null) {
      for (const [name, below] of Object.entries(value)) visit(below, path ? `${path}.${name}` : name);
    }
  };
  visit(data, '');
  return [...filled].filter(([, isFilled]) => !isFilled).map(([path]) => path);
}
