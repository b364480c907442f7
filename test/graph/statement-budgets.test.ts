import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { type DocumentNode, OperationTypeNode, parse } from 'graphql';
import { documents as benchmark } from '../../bench/workloads/documents.ts';
import { chooseOperation } from '../../src/executor/run/execute.ts';
import { explainOperation } from '../../src/executor/run/explain.ts';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { schema } from '../../src/schema/index.ts';

// The statements that each query of REST, of the documentation and of the benchmark sends by its plan, for any number of rows:
// by round trip, with no reference data in memory yet. After them come the statements that it sends if no page of a filtered list
// is full before the last step. After a change, update the file: UPDATE=1 npm test -- test/graph/statement-budgets.test.ts
const file = join(import.meta.dirname, 'statement-budgets.json');
const queries = join(import.meta.dirname, '../../docs/queries');

const documents: readonly (readonly [string, DocumentNode])[] = [
  ...routeTable.map(({ method, path, document }) => [`${method} ${path}`, document] as const),
  ...readdirSync(queries).map(
    (name) => [`docs/queries/${name}`, parse(readFileSync(join(queries, name), 'utf8'))] as const,
  ),
  ...Object.entries(benchmark).map(([id, text]) => [`benchmark ${id}`, parse(text)] as const),
];

/** The ids in the arguments need not exist, because the recording database answers every statement with a row. */
const id = (prefix: string) => `${prefix}_01j1yfhmm0e28acw8cherb61x6`;
const variablesOf = (name: string) => ({
  id: id(/(attachment|comment|member|webhook)s\/\{/.exec(name)?.[1] ?? 'issue'),
  key: 'A-1',
  code: 'A',
  codes: ['A'],
  teamId: id('team'),
  before: new Date(0),
  groupBy: ['PRIORITY'],
  every: 'WEEK',
  from: '2026-01-01',
  to: '2026-01-31',
  timeZone: 'Europe/Berlin',
});

it('every query sends the statements of its budget', async () => {
  const budgets: Record<string, string> = {};
  for (const [name, document] of documents) {
    const operation = chooseOperation(document, undefined);
    if (operation.operation !== OperationTypeNode.QUERY) continue;
    const { levels, longest } = await explainOperation(schema, document, operation, variablesOf(name));
    if (!levels || !longest) throw new Error(`${name} is left to graphql-js.`);
    const [typical, max] = [levels, longest].map((trips) => JSON.stringify(trips.map((trip) => trip.length)));
    budgets[name] = typical === max ? String(typical) : `[${typical}, ${max}]`;
  }
  const lines = Object.entries(budgets).map(
    ([name, levels]) => `  ${JSON.stringify(name)}: ${levels.replaceAll(/, ?/g, ', ')}`,
  );
  const text = `{\n${lines.join(',\n')}\n}\n`;
  if (process.env.UPDATE) writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, 'utf8'));
});
