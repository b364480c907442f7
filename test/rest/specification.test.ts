import { describe, expect, it } from '@jest/globals';
import type { JsonSchema } from '../../src/rest-compat/json-schema.ts';
import { readParameters } from '../../src/rest-compat/params.ts';
import type { Route } from '../../src/rest-compat/route.ts';
import { additions, routeTable, specified } from '../../src/rest-compat/route-table.ts';
import { bodyTables, endpoints, resources, type SpecifiedEndpoint } from './specification.ts';
import { differences } from './specified-fields.ts';

const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'> | SpecifiedEndpoint) => `${method} ${path}`;

function routeOf(endpoint: SpecifiedEndpoint): Route {
  const route = specified.find((candidate) => nameOf(candidate) === nameOf(endpoint));
  if (!route) throw new Error(`${nameOf(endpoint)} is not in the table.`);
  return route;
}

const queryNames = (route: Route) =>
  Object.entries(route.parameters).flatMap(([name, { kind }]) =>
    kind === 'path' || kind === 'header' ? [] : [name],
  );

it('the reader of the specification finds its endpoints, tables and fields', () => {
  expect(endpoints).toHaveLength(32);
  for (const [name, fields] of Object.entries(resources)) {
    expect([name, fields.length > 2]).toEqual([name, true]);
    for (const { name: field, type } of fields)
      expect([field, type]).toEqual([field, expect.stringMatching(/./)]);
  }
});

it('the comparison notices missing, extra and misplaced fields, and wrong types', () => {
  const link = { linkId: 'a', id: 'a', url: 'u', title: 't', createdUtc: '2026-01-01T00:00:00.000Z' };
  const { id, ...without } = link;
  expect(differences(link, 'Issue link')).toEqual([]);
  for (const wrong of [
    without,
    { id, ...without },
    { ...link, revision: 1 },
    { ...link, title: null },
    null,
    [link],
  ])
    expect(differences(wrong, 'Issue link')).not.toEqual([]);
  expect(differences({ ...link, createdUtc: '2026-01-01' }, 'Issue link')).toHaveLength(1);
  expect(differences({}, 'Nothing')).toHaveLength(1);
});

it('the table has every endpoint of the specification, in its order, and says which are additions', () => {
  expect(specified.map(nameOf)).toEqual(endpoints.map(nameOf));
  expect(routeTable).toEqual([...specified, ...additions]);
});

describe.each(endpoints.map((endpoint) => [nameOf(endpoint), endpoint] as const))('%s', (_name, endpoint) => {
  it('needs the scope of its section', () => {
    expect(routeOf(endpoint).scope).toBe(endpoint.scope ?? 'public');
  });

  it('takes exactly the query parameters of the specification', () => {
    const expected = endpoint.parameters.map(({ name }) => name);
    expect(queryNames(routeOf(endpoint)).toSorted()).toEqual(expected.toSorted());
  });

  it('takes each parameter with the type, spelling and repetition of the specification', () => {
    const route = routeOf(endpoint);
    expect(queryNames(route)).toHaveLength(endpoint.parameters.length);
    for (const { name, note } of endpoint.parameters) {
      const parameter = route.parameters[name];
      if (!parameter || parameter.kind === 'path') throw new Error(`${name} is not a query parameter.`);
      expect([name, parameter.kind === 'many']).toEqual([name, note.includes('repeatable')]);
      const schema = parameter.kind === 'many' ? parameter.value.schema : parameter.schema;
      expect([name, typeOf(schema)]).toEqual([name, specifiedType(name, note)]);
      const expected = spellingsOf(name, note);
      if (expected) expect([name, schema.enum]).toEqual([name, expected]);
      for (const spelling of expected ?? [])
        expect(
          readParameters({ [name]: parameter }, { path: {}, query: new URLSearchParams([[name, spelling]]) }),
        ).toMatchObject({ violations: [] });
    }
  });

  it('takes the body of the specification, required where it says so', () => {
    const { body } = routeOf(endpoint);
    const expected = bodyOf(endpoint);
    const found = Object.entries(body?.fields ?? {}).map(([name, field]) => {
      const schema =
        field.kind === 'required'
          ? field.value.schema
          : field.kind === 'clears'
            ? { type: 'boolean' }
            : field.schema;
      return { name, type: typeOf(schema), required: field.kind === 'required' };
    });
    expect(found).toEqual(expected);
    const refusesEmpty = endpoint.method === 'PATCH' && expected.every(({ required }) => !required);
    expect(body?.refusesEmpty ?? false).toBe(refusesEmpty);
  });

  it('answers with the statuses of the specification', () => {
    const statuses = Array.from(endpoint.success.matchAll(/\b(20\d|302)\b/g), ([status]) => Number(status));
    const { successes } = routeOf(endpoint);
    expect(successes.map(({ status }) => status)).toEqual(statuses.length > 0 ? statuses : [200]);
    const isList = endpoint.success.includes('list of');
    expect(successes.some(({ isPaged }) => isPaged)).toBe(isList);
  });
});

interface BodyField {
  name: string;
  type: string;
  required: boolean;
}

function bodyOf(endpoint: SpecifiedEndpoint): BodyField[] {
  const rows = bodyTables[nameOf(endpoint)];
  if (rows)
    return rows.map(({ Field = '', Type = '', Required }) => ({
      name: Field,
      type: Type.includes('array') ? 'array' : Type,
      required: Required === 'yes',
    }));
  return Array.from(
    endpoint.body.matchAll(/(\w+): (\w+) \((required|optional)/g),
    ([, name = '', type = '', need]) => ({
      name,
      type,
      required: need === 'required',
    }),
  );
}

function typeOf({ type, format }: JsonSchema): string {
  if (format === 'date-time') return 'datetime';
  return format === 'date' ? 'date' : String(type);
}

function specifiedType(name: string, note: string): string {
  if (name === 'page_size') return 'integer';
  return /^(boolean|datetime)/.exec(note)?.[0] ?? 'string';
}

/** The closed sets that the specification lists. For providers it only gives the number of spellings. */
function spellingsOf(name: string, note: string): string[] | undefined {
  if (name === 'direction') return ['asc', 'ascending', 'desc', 'descending'];
  if (name === 'provider') return ['github', 'azuredevops', 'azure-devops', 'azure_devops'];
  if (note === 'only `created` accepted') return ['created'];
  const listed = name === 'sort' ? note : /repeatable: (.*)$/.exec(note)?.[1];
  return listed?.split(', ');
}
