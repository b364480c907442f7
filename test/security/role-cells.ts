import { getNamedType, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import type { TableName } from '../../src/db/tables/tables.ts';
import type { FilterFields } from '../../src/resolvers/filters.ts';
import type { Route } from '../../src/rest-compat/route.ts';
import { type Entity, entitiesByPrefix } from '../../src/schema/builder/entity.ts';
import { schema } from '../../src/schema/index.ts';
import { type FieldOf, objectFields, objectTypes, planOf } from '../graph/schema-walk.ts';
import type { Sample } from './positions.ts';
import { documentOf } from './scope-cells.ts';
import { unknownId } from './trials.ts';
import { below, isNodeType, pathByNode, requiredArguments, shortestPaths } from './selection-paths.ts';

type AnyEntity = Entity<TableName>;

/** All types whose objects are rows of a table. */
export const entities: readonly AnyEntity[] = objectTypes.flatMap(({ extensions }) =>
  extensions.entity ? [extensions.entity as AnyEntity] : [],
);

/** An operation that reads rows of a type by one path. */
export interface RoleCell {
  at: string;
  operation: 'query' | 'mutation' | 'subscription';
  query: string;
}

const roots = { query: 'Query', mutation: 'Mutation', subscription: 'Subscription' } as const;

/** The fields that belong to a type, return its rows, or count or compute with them. Read from the schema, not from the rule. */
export function fieldsShowing({ name, options }: AnyEntity): FieldOf[] {
  const types = new Set([name, `${name}Connection`, `${name}Edge`]);
  return objectFields.filter(
    ({ parent, field }) =>
      types.has(parent) || types.has(getNamedType(field.type).name) || mentions(planOf(field), options.table),
  );
}

/** Every field that shows rows of the type, by the shortest path from each root and by `node`, ids, and filters by such rows. */
export function cellsOf(entity: AnyEntity, sample: Sample): RoleCell[] {
  const fields = fieldsShowing(entity);
  const byPath = Object.entries(roots).flatMap(([kind, root]) => {
    const operation = kind as RoleCell['operation'];
    const paths = shortestPaths(root, sample);
    return fields.flatMap((of): RoleCell[] => {
      const path = paths.get(of.parent);
      const asked = path && { operation: operation === 'query' ? '' : `${operation} `, path };
      return asked
        ? [{ at: `${operation} … ${of.coordinate}`, operation, query: documentOf(asked, [of], sample) }]
        : [];
    });
  });
  const byNode = fields.flatMap((of): RoleCell[] => {
    const prefix = [...entitiesByPrefix.values()].find(({ name }) => name === of.parent)?.options.prefix;
    if (!prefix || !isNodeType(of.parent)) return [];
    const asked = (id: string) =>
      documentOf({ operation: '', path: pathByNode(of.parent, id) }, [of], sample);
    const isUnshareable = of.parent === entity.name;
    return [
      { at: `node … ${of.coordinate}`, operation: 'query', query: asked(sample({ by: 'id', of: prefix })) },
      ...(isUnshareable
        ? [
            {
              at: `node of another type … ${of.coordinate}`,
              operation: 'query' as const,
              query: asked(sample({ by: 'id', of: 'team' })),
            },
          ]
        : []),
    ];
  });
  return [...byPath, ...byNode, ...byId(entity, sample), ...byFilter(entity, sample)];
}

/** Reads by `node` and `nodes`, of an object and of an id without one. */
function byId({ name, options: { prefix } }: AnyEntity, sample: Sample): RoleCell[] {
  if (!prefix) return [];
  const own = sample({ by: 'id', of: prefix });
  return [own, unknownId(own)].flatMap((id) =>
    [
      `{ node(id: "${id}") { id } }`,
      `{ node(id: "${id}") { __typename } }`,
      `{ nodes(ids: ["${id}"]) { id } }`,
    ].map((query): RoleCell => ({ at: `${name}: ${query}`, operation: 'query', query })),
  );
}

/** Lists and statistics with a filter by related rows of the type, which would tell whether there are any. */
function byFilter({ options }: AnyEntity, sample: Sample): RoleCell[] {
  const paths = shortestPaths('Query', sample);
  return objectFields.flatMap((of) =>
    of.field.args.flatMap(({ name, type }) => {
      const filtered = entities.find((entity) => `${entity.name}Filter` === getNamedType(type).name);
      const path = paths.get(of.parent);
      if (!filtered || !path) return [];
      return filtersThrough(filtered.filterFields(), options.table, 1).map((filter): RoleCell => {
        const others = requiredArguments(of.field, sample).replace(/^\(|\)$/g, '');
        const asked = `${of.field.name}(${others} ${name}: ${filter})${below(of.field)}`;
        const query = `${path.prefix}${asked}${path.suffix}`;
        return { at: `${of.coordinate}(${name}: ${filter})`, operation: 'query', query };
      });
    }),
  );
}

function filtersThrough(fields: FilterFields, table: TableName, relations: number): string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    if (field.kind !== 'reference' && field.kind !== 'through') return [];
    const related = (filter: string) => (field.kind === 'through' ? `{ some: ${filter} }` : filter);
    if (field.target.table === table) {
      const own = `{ ${name}: ${related('{}')} }`;
      return [own, `{ not: ${own} }`, `{ or: [${own}] }`];
    }
    if (relations === 0) return [];
    return filtersThrough(field.target.filter(), table, relations - 1).map(
      (filter) => `{ ${name}: ${related(filter)} }`,
    );
  });
}

/** Whether the operation of a route selects one of these fields. */
export function isShownBy({ document }: Route, fields: readonly FieldOf[]): boolean {
  const coordinates = new Set(fields.map(({ coordinate }) => coordinate));
  const info = new TypeInfo(schema);
  let found = false;
  visit(
    document,
    visitWithTypeInfo(info, {
      Field: ({ name }) => {
        if (coordinates.has(`${String(info.getParentType())}.${name.value}`)) found = true;
      },
    }),
  );
  return found;
}

/** Whether a plan names the table anywhere. */
function mentions(part: unknown, table: TableName): boolean {
  if (typeof part !== 'object' || part === null) return false;
  return Object.entries(part).some(([name, value]) =>
    name === 'table' ? value === table : mentions(value, table),
  );
}
