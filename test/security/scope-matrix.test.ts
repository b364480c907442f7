import { readSubscription } from '../support/read-subscription.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Scope, scopes as allScopes } from '../../src/resolvers/context.ts';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { parseId } from '../../src/resolvers/ids.ts';
import { entitiesByPrefix } from '../../src/schema/builder/entity.ts';
import { connectionFields, type FieldOf, objectType, rowTypeOf } from '../graph/schema-walk.ts';
import type { Answer } from '../support/app.ts';
import { sampledOutsideCi } from '../support/samples.ts';
import { kinds } from './candidates.ts';
import { prefixOf } from './parents.ts';
import { namingOf, type Sample } from './positions.ts';
import { sampleRequest } from './rest-positions.ts';
import {
  documentOf,
  fieldsByType,
  filtersOf,
  needOf,
  needOfNode,
  type ReadCase,
  secretsBefore,
  suffices,
} from './scope-cells.ts';
import { ownValues, trialsOf } from './trials.ts';
import { seenIn, startTwins, type TwinWorlds, uncompressed } from './twin-worlds.ts';
import { isNodeType, shortestPaths, pathByNode } from './selection-paths.ts';

let twins: TwinWorlds;
let sample: Sample;
let cells = 0;
const readings: ReadCase[] = [];
const tokens = new Map<Scope, { token: string; secrets: readonly string[] }>();

beforeAll(async () => {
  twins = await startTwins();
  sample = (naming) => ownValues(naming, twins)[0] ?? '';
  for (const scope of allScopes) {
    const token = await twins.here.token([scope]);
    tokens.set(scope, { token, secrets: secretsBefore(twins.here.model, scope) });
  }
  const fields = fieldsByType();
  for (const [operation, root] of [
    ['', 'Query'],
    ['mutation ', 'Mutation'],
    ['subscription ', 'Subscription'],
  ] as const) {
    for (const [typeName, path] of shortestPaths(root, sample)) {
      if (typeName === 'Mutation') continue;
      if (typeName === 'Subscription') {
        // A subscription has one root field.
        for (const field of fields.get(typeName) ?? [])
          readings.push({ typeName, operation, path, fields: [field] });
        continue;
      }
      readings.push({ typeName, operation, path, fields: fields.get(typeName) ?? [] });
    }
  }
  for (const [typeName, own] of fields) {
    const prefix = prefixOf(typeName);
    if (!prefix || !isNodeType(typeName)) continue;
    const id = twins.own.notDeleted(prefix)[0]?.id ?? '';
    readings.push({ typeName, operation: '', path: pathByNode(typeName, id), fields: own });
  }
});
afterAll(async () => {
  await twins.stop();
  console.info(`The matrix of scopes: ${cells} cells.`);
});

/** Whether the scope alone permits a field and, for `node`, the type of the sample. */
function opens(of: FieldOf, scope: Scope): boolean {
  const opened = of.field.args.map(namingOf).filter((naming) => naming?.by === 'id' && !naming.of);
  const needs = opened.map((naming) => {
    const prefix = parseId(sample(naming ?? { by: 'id' }))?.prefix;
    return prefix && entitiesByPrefix.get(prefix)?.options.scope;
  });
  return [needOf(of), ...needs].every((need) => suffices(need, scope));
}

/** The missing scopes of a reading, as the refusal lists them. */
function missingFor(reading: ReadCase, fields: readonly FieldOf[], scope: Scope): string[] {
  const isNode = reading.path.prefix.startsWith('{ node(');
  const missing = [...reading.path.steps, ...fields]
    .filter((of) => !opens(of, scope))
    .map(({ coordinate }) => coordinate);
  return isNode && !suffices(needOfNode(reading.typeName), scope) ? ['Query.node', ...missing] : missing;
}

async function read(reading: ReadCase, fields: readonly FieldOf[], scope: Scope) {
  const { token, secrets } = tokens.get(scope) ?? raise(scope);
  const query = documentOf(reading, fields, sample);
  const { app } = twins.here;
  const answer: Pick<Answer<Answered>, 'body' | 'statements'> = reading.operation === 'subscription '
    ? await readSubscription(app, query, {}, { token })
    : await app.graphql(query, {}, { token });
  const text = JSON.stringify(answer.body);
  // This must hold for every answer, whether it is a refusal or not.
  expect([scope, reading.typeName, secrets.filter((secret) => text.includes(secret))]).toEqual([
    scope,
    reading.typeName,
    [],
  ]);
  const lacking = (answer.body.errors ?? [])
    .filter(({ message }) => message.startsWith('The access token lacks scopes'))
    .flatMap(({ extensions }) => (extensions?.errors ?? []) as { field: string }[])
    .map(({ field }) => field);
  return { answer, lacking };
}

interface Answered {
  data?: unknown;
  errors?: readonly { message: string; extensions?: Record<string, unknown> }[];
}

// A third of the scopes for each part of the matrix. CI takes all.
const scopesFor = (part: string) => sampledOutsideCi(allScopes, 3, () => part);

describe('with one scope alone', () => {
  it.each(scopesFor('operations'))(
    '%s refuses operations with any field that it does not permit, and reads all others',
    async (scope) => {
      for (const reading of readings) {
        const { fields } = reading;
        cells += fields.length;
        const missing = missingFor(reading, fields, scope);
        if (missing.length > 0) {
          const { answer, lacking } = await read(reading, fields, scope);
          expect([reading.path.prefix, lacking.toSorted()]).toEqual([
            reading.path.prefix,
            [...new Set(missing)].toSorted(),
          ]);
          expect(answer.body.data ?? null).toBeNull();
          // The operation itself must send no statement.
          expect(answer.statements).toBe(0);
        }
        const open = fields.filter((of) => opens(of, scope));
        if (open.length === 0 || missingFor(reading, open, scope).length > 0) continue;
        const { answer, lacking } = await read(reading, open, scope);
        expect([reading.path.prefix, lacking]).toEqual([reading.path.prefix, []]);
        if (reading.operation === '') expect(answer.body.errors).toBeUndefined();
      }
    },
  );

  it.each(scopesFor('routes'))('%s refuses routes of other scopes before any look-up', async (scope) => {
    const { token, secrets } = tokens.get(scope) ?? raise(scope);
    for (const route of routeTable) {
      cells += 1;
      const { path, body } = sampleRequest(route, sample);
      const answer = await twins.here.app.request(route.method, path, { token, ...(body && { body }) });
      const name = `${route.method} ${route.path}`;
      const text = JSON.stringify(answer.body);
      expect([name, secrets.filter((secret) => text.includes(secret))]).toEqual([name, []]);
      const isOpen = suffices(route.scope, scope);
      expect([name, answer.status === 403]).toEqual([name, !isOpen]);
      if (!isOpen) expect([name, answer.statements]).toEqual([name, 0]);
    }
  });

  it.each(scopesFor('ids'))(
    '%s answers ids of types that it does not permit as if the objects did not exist',
    async (scope) => {
      const { token } = tokens.get(scope) ?? raise(scope);
      for (const kind of kinds) {
        const need = [...entitiesByPrefix].find(([prefix]) => prefix === kind)?.[1].options.scope;
        if (suffices(need, scope)) continue;
        const own = twins.own.notDeleted(kind)[0]?.id ?? '';
        const [foreign] = trialsOf({ by: 'id', of: kind }, twins);
        const seen = [own, foreign?.value ?? '', foreign?.twin ?? ''].map(async (id) => {
          cells += 1;
          const query = 'query ($id: ID!) { node(id: $id) { id } }';
          return seenIn(await twins.here.app.graphql(query, { id }, { token, headers: uncompressed }), id);
        });
        const [first, ...others] = await Promise.all(seen);
        expect(others).toEqual([first, first]);
      }
    },
  );
});

describe('a list', () => {
  const lists = connectionFields.filter(({ parent }) => parent === 'Query');

  it.each(scopesFor('filters'))('refuses filters on what a token with %s may not read', async (scope) => {
    const { token } = tokens.get(scope) ?? raise(scope);
    for (const list of lists.filter((of) => suffices(needOf(of), scope))) {
      for (const { filter, tests } of filtersOf(rowTypeOf(list), 2)) {
        // The alternatives show the same, so one permitted alternative is enough.
        if (tests.every((fields) => fields.some((of) => suffices(needOf(of), scope)))) continue;
        cells += 1;
        const query = `{ ${list.field.name}(filter: ${filter}) { __typename } }`;
        const { body }: Answer<Answered> = await twins.here.app.graphql(query, {}, { token });
        expect([list.coordinate, filter, body.errors?.[0]?.extensions?.code]).toEqual([
          list.coordinate,
          filter,
          'FORBIDDEN',
        ]);
      }
    }
  });

  it('has no order by a field that its readers may not read', () => {
    for (const { name, options } of entitiesByPrefix.values()) {
      for (const { column } of Object.values<{ column: string }>(options.orders ?? {})) {
        const shown = objectType(name).getFields()[column.replace(/(Fold|Rank)$/, '')];
        if (!shown) continue;
        for (const scope of allScopes.filter((each) => suffices(options.scope, each))) {
          cells += 1;
          const need = needOf({ coordinate: `${name}.${shown.name}` });
          expect([name, column, scope, suffices(need, scope)]).toEqual([name, column, scope, true]);
        }
      }
    }
  });
});

function raise(scope: Scope): never {
  throw new Error(`There is no token for ${scope}.`);
}
