import SchemaBuilder from '@pothos/core';
import type { Row } from './database.ts';
import type { Context } from './loaders.ts';

export const builder = new SchemaBuilder<{
  Context: Context;
  Scalars: {
    DateTime: { Input: string; Output: Date };
    Date: { Input: string; Output: string };
    RichText: { Input: never; Output: unknown };
    ID: { Input: string; Output: string };
  };
}>({});

builder.queryType({});
builder.mutationType({});
builder.scalarType('DateTime', { serialize: (value) => value.toISOString(), parseValue: String });
builder.scalarType('Date', { serialize: String, parseValue: String });
builder.scalarType('RichText', { serialize: (value) => value });

/** A page of a parent's children. */
export interface Connection {
  readonly nodes: readonly Row[];
  readonly hasNextPage: boolean;
  readonly endCursor: string | null;
  readonly total: () => number | Promise<number>;
}

/** Makes a page of the rows, which include one row more than the page has if there is a next page. */
export function pageOf(
  found: readonly Row[],
  first: number,
  total: Connection['total'],
  cursorOf?: (row: Row) => string,
): Connection {
  const nodes = found.slice(0, first);
  const last = nodes.at(-1);
  return {
    nodes,
    hasNextPage: found.length > first,
    endCursor: last && cursorOf ? cursorOf(last) : null,
    total,
  };
}

const PageInfo = builder.objectRef<Connection>('PageInfo').implement({
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage'),
    endCursor: t.exposeString('endCursor', { nullable: true }),
  }),
});

export function connectionType(name: string, node: ReturnType<typeof rowType>) {
  return builder.objectRef<Connection>(`${name}Connection`).implement({
    fields: (t) => ({
      nodes: t.field({ type: [node], resolve: ({ nodes }) => [...nodes] }),
      pageInfo: t.field({ type: PageInfo, resolve: (connection) => connection }),
      totalCount: t.int({ resolve: ({ total }) => total() }),
    }),
  });
}

export function rowType(name: string) {
  return builder.objectRef<Row>(name);
}

export const priorities = ['NONE', 'URGENT', 'HIGH', 'MEDIUM', 'LOW'] as const;
export const Priority = builder.enumType('Priority', { values: priorities });
