import type { JsonSchema } from './json-schema.ts';
import type { Shape } from './shape.ts';

/** What a route answers with when it finds what it was asked for. */
export interface Reply<in Picked, in Values> {
  readonly status: number;
  readonly schema: JsonSchema;
  readonly render: (picked: Picked, values: Values) => unknown;
}

/** 200 with one thing. */
export function item<Picked>({ schema, render }: Shape<Picked>): Reply<Picked, unknown> {
  return { status: 200, schema, render: (picked) => render(picked) };
}

/** 201 with the thing that was made. */
export function created<Picked>(shape: Shape<Picked>): Reply<Picked, unknown> {
  return { ...item(shape), status: 201 };
}

/** A connection of the graph, of which a list is made. */
export interface Connection<Node> {
  readonly nodes: readonly Node[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly totalCount: number;
}

interface PageValues {
  readonly cursor: string | undefined;
  readonly page_size: number;
}

/** 200 with a page of things: `{ results, pagination }`. */
export function list<Node>({ schema, render }: Shape<Node>): Reply<Connection<Node>, PageValues> {
  return {
    status: 200,
    schema: {
      type: 'object',
      properties: { results: { type: 'array', items: schema }, pagination },
      required: ['results', 'pagination'],
    },
    render: ({ nodes, pageInfo, totalCount }, { cursor, page_size: pageSize }) => ({
      results: nodes.map(render),
      pagination: {
        pageSize,
        cursor: cursor ?? '',
        nextCursor: pageInfo.hasNextPage ? (pageInfo.endCursor ?? '') : '',
        hasMore: pageInfo.hasNextPage,
        returnedCount: nodes.length,
        totalCount,
      },
    }),
  };
}

const pagination: JsonSchema = {
  title: 'Pagination',
  type: 'object',
  properties: {
    pageSize: { type: 'integer' },
    cursor: { type: 'string', description: 'The cursor that was sent; empty when none was.' },
    nextCursor: { type: 'string', description: 'The cursor of the next page; empty when there is none.' },
    hasMore: { type: 'boolean' },
    returnedCount: { type: 'integer' },
    totalCount: {
      type: 'integer',
      description: 'The number of results that the filters let through, all pages together.',
    },
  },
  required: ['pageSize', 'cursor', 'nextCursor', 'hasMore', 'returnedCount', 'totalCount'],
};
