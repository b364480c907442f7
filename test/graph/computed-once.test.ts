import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { parse } from 'graphql';
import { Random } from '../support/random.ts';
import { isWhole } from '../support/samples.ts';
import { priceOperation } from '../../src/executor/cost/operation-cost.ts';
import { chooseOperation } from '../../src/executor/run/execute.ts';
import { fragmentsOf } from '../../src/executor/selections/operation.ts';
import {
  checkScopes,
  InsufficientScopeError,
  missingScopes,
} from '../../src/executor/selections/scope-rule.ts';
import { coerceVariables } from '../../src/executor/inputs/variables.ts';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { memberRole, principalKind } from '../../src/model/codes.ts';
import { type Principal, type Scope, scopes } from '../../src/resolvers/context.ts';
import { schema } from '../../src/schema/index.ts';
import { costByTree } from './cost-by-tree.ts';
import { RandomQueries } from './random-queries.ts';
import { sharedWorld, type SharedWorld } from './shared-world.ts';

// The cost and the scopes of an operation are computed once and cached. They must be those of a new computation.

/** 500 in CI, 150 in any other run. */
const queries = Number(process.env.QUERIES ?? (isWhole ? 500 : 150));
const firstSeed = process.env.SEED ?? String(Math.floor(Date.now() / 1000));

let world: SharedWorld;
beforeAll(async () => {
  world = await sharedWorld();
});
afterAll(() => world.stop());

it('the cached cost and scopes of a query are right for any values of its variables', () => {
  let compared = 0;
  for (let index = 0; index < queries; index += 1) {
    const seed = process.env.SEED ?? `${firstSeed}-${index}`;
    const random = new Random(seed);
    const { query, variables } = new RandomQueries(world.model, random, new Map()).query();
    const document = parse(query);
    for (let round = 0; round < 4; round += 1) {
      const source = sourceOf(document, round === 0 ? variables : withOtherValues(variables, random));
      if (!source) continue;
      compared += 1;
      expect([seed, priceOperation(source, Infinity).requested]).toEqual([seed, costByTree(source)]);
      const principal = principalWith(random.sample(scopes, random.integer(0, scopes.length)));
      const isInsufficient = missingScopes(source, principal).length > 0;
      expect([seed, isRefused(source, principal)]).toEqual([seed, isInsufficient]);
    }
  }
  // If all variables were refused, nothing would have been compared.
  expect(compared).toBeGreaterThan(queries);
});

it('the cached cost and scopes of documented queries and of REST operations are right', () => {
  const folder = join(import.meta.dirname, '../../docs/queries');
  const documents = readdirSync(folder).map((file) => parse(readFileSync(join(folder, file), 'utf8')));
  for (const document of [...documents, ...routeTable.map((route) => route.document)]) {
    const operation = chooseOperation(document, undefined);
    const source = { schema, operation, fragments: fragmentsOf(document), variables: anyVariables };
    expect(priceOperation(source, Infinity).requested).toBe(costByTree(source));
    for (const omitted of scopes) {
      const principal = principalWith(scopes.filter((scope) => scope !== omitted));
      expect(isRefused(source, principal)).toBe(missingScopes(source, principal).length > 0);
    }
  }
});

/** Variables with a page size wherever there is one, and without filters. */
const anyVariables = {
  first: 7,
  key: 'A-1',
  id: 'x',
  ids: ['a', 'b'],
  input: { keys: ['A-1'] },
  groupBy: ['priority'],
  every: 'week',
  from: '2026-01-01',
  to: '2026-03-31',
  timeZone: 'UTC',
};

function sourceOf(document: ReturnType<typeof parse>, inputs: Record<string, unknown>) {
  const operation = chooseOperation(document, undefined);
  try {
    const unread = { schema, operation, fragments: fragmentsOf(document) };
    // Both refuse ids with an unknown prefix.
    const source = { ...unread, variables: coerceVariables(unread, inputs) };
    missingScopes(source, principalWith(scopes));
    return source;
  } catch {
    return undefined;
  }
}

type Source = Exclude<ReturnType<typeof sourceOf>, undefined>;

function withOtherValues(variables: Record<string, unknown>, random: Random): Record<string, unknown> {
  const other = (value: unknown) => {
    if (typeof value === 'boolean') return random.chance(0.5);
    return typeof value === 'number' ? random.integer(1, 250) : value;
  };
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, other(value)]));
}

function isRefused(source: Source, principal: Principal): boolean {
  try {
    checkScopes(source, principal);
    return false;
  } catch (error) {
    if (error instanceof InsufficientScopeError) return true;
    throw error;
  }
}

function principalWith(held: readonly Scope[]): Principal {
  return {
    workspaceId: '',
    userAccountId: '',
    memberId: '',
    displayName: '',
    role: memberRole.owner,
    principalKind: principalKind.user,
    tokenId: '',
    scopes: new Set(held),
    expiresUtc: null,
  };
}
