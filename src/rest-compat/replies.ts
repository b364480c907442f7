import { limits } from '../model/limits.ts';
import type { Table } from './csv.ts';
import { chunkOfPage, type EventChunk } from './event-chunks.ts';
import type { JsonSchema } from './json-schema.ts';
import { maxCursorLength } from './params.ts';
import { stepsOf, valueAt } from './paths.ts';
import type { WrittenAnswer } from '../executor/compiled/writing/json-writer.ts';
import type { RowRenderer } from '../executor/compiled/writing/row-renderer.ts';
import { boolean, integer, type Shape, shape, text } from './shape.ts';
import { shapeRenderer, WrittenResource } from './shape-writer.ts';

/** The content of an answer, before it becomes HTTP. */
export interface AnswerContent {
  readonly status: number;
  /** The JSON body, as bytes or as a value; an answer without it has no body. */
  readonly body?: unknown;
  /** Returns the buffer of the body to the pool; called when the body has been sent. */
  readonly release?: (() => void) | undefined;
  /** The same as a table, for clients that ask for CSV by `format` or prefer it in `Accept`. */
  readonly table?: Table & { readonly format: 'json' | 'csv' | undefined };
  /** The target of a redirect, or the path of the created resource. */
  readonly location?: string;
  /** For a page of a list, the cursor of the next page; empty when there is none. */
  readonly nextCursor?: string;
  /** For a page of a list whose total may be a lower bound, whether it is exact. */
  readonly isTotalExact?: boolean | undefined;
  /** The entries of a page of a log, for a stream. */
  readonly chunk?: EventChunk;
  /** The revision of the resource in the body. */
  readonly revision?: number | undefined;
}

/** An answer that a route may give on success, for OpenAPI. */
export interface Success {
  readonly status: number;
  readonly description: string;
  readonly schema?: JsonSchema;
  /** The answer is a page of a list, with a `Link` header. */
  readonly isPaged?: true;
  /** The total of the list may be a lower bound, which a header then says. */
  readonly isBounded?: boolean;
  /** Its `ETag` contains a revision and can be used in `If-Match`. */
  readonly hasRevision?: boolean;
  /** The path of the created resource. */
  readonly created?: CreatedResource;
  /** It is also answered as CSV. */
  readonly hasCsv?: true;
  /** It is also answered as a stream of events. */
  readonly hasStream?: true;
  /** The answer has a `Location` header. */
  readonly hasLocation?: true;
}

/**
 * The path of a created resource, at which it can be read, changed or deleted; not every resource supports all three.
 */
export interface CreatedResource {
  /** The path of its routes. The last part in braces names the resource itself. */
  readonly path: `/v1/${string}/{${string}}`;
  /** Where the answer contains the value of that part: `attachment.id`. */
  readonly parameterValuePath: string;
}

/** The path parameter that names the resource itself, which is the last one. */
export function resourceParameter({ path }: CreatedResource): string {
  return path.slice(path.lastIndexOf('{') + 1, -1);
}

/** How a route answers when its resource exists. */
export interface Reply<in Picked, in Values> {
  readonly successes: readonly Success[];
  readonly render: (picked: Picked, values: Values) => AnswerContent;
  /**
   * How the compiled executor writes the resources of the reply, which are at the path that the route picks. The
   * data then has a WrittenResource in place of each resource, unless graphql-js answered with values.
   */
  readonly rowRenderer?: (path: readonly string[]) => RowRenderer;
  /**
   * The variable with the number of rows that are read. Fewer are read if these are too long together for one answer.
   */
  readonly sizeVariable?: 'first' | 'last';
}

/** 200 with a resource. `description` replaces the default description in OpenAPI, which is made of the name of the shape. */
export function item<Picked>(resourceShape: Shape<Picked>, description?: string): Reply<Picked, unknown> {
  return {
    successes: [successOf(resourceShape, 200, '', description)],
    rowRenderer: (path) => shapeRenderer(resourceShape, path),
    render: (picked) => ({ status: 200, ...renderResource(resourceShape, picked) }),
  };
}

/** 200 with a resource that has the newest rows of a list without pages: the `last` ones of the operation. */
export function newest<Picked>(resourceShape: Shape<Picked>, description: string): Reply<Picked, unknown> {
  return { ...item(resourceShape, description), sizeVariable: 'last' };
}

/** 200 with a page of a log, or with its entries as a stream of events. */
export function log<Picked>(pageShape: Shape<Picked>): Reply<Picked, unknown> {
  const page = item(pageShape, 'A page of the log.');
  return {
    ...page,
    successes: page.successes.map((success) => ({ ...success, hasStream: true })),
    render: (picked) => {
      const { body, ...rendering } = page.render(picked, undefined);
      return { ...rendering, body, ...(!(body instanceof Uint8Array) && { chunk: chunkOfPage(body) }) };
    },
  };
}

/** 201 with the created resource, which can be read only in a list. */
export function created<Picked>(resourceShape: Shape<Picked>): Reply<Picked, unknown> {
  return {
    successes: [successOf(resourceShape, 201, ' that was created')],
    render: (picked) => ({ status: 201, ...renderResource(resourceShape, picked) }),
  };
}

/** 201 with the created resource, and its path in `Location`. */
export function createdAt<Picked>(
  resourceShape: Shape<Picked>,
  createdResource: CreatedResource,
  description?: string,
): Reply<Picked, Readonly<Record<string, unknown>>> {
  return {
    successes: [
      {
        ...successOf(resourceShape, 201, ' that was created', description),
        created: createdResource,
        hasLocation: true,
      },
    ],
    render: (picked, values) => {
      const { body, revision } = renderResource(resourceShape, picked);
      return { status: 201, body, revision, location: locationOf(createdResource, body, values) };
    },
  };
}

function locationOf(
  createdResource: CreatedResource,
  body: unknown,
  values: Readonly<Record<string, unknown>>,
): string {
  const parameter = resourceParameter(createdResource);
  const steps = stepsOf(createdResource.parameterValuePath);
  return createdResource.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    // Keys in answers are in upper case, whatever the client has sent.
    name === parameter ? String(valueAt(body, steps)) : String(values[name]).toUpperCase(),
  );
}

/** 201 with the created resource, or 200 with an equivalent one that existed already. */
export function createdOrExisting<Resource>(
  resourceShape: Shape<Resource>,
  createdResource: CreatedResource,
): Reply<{ readonly resource: Resource; readonly created: boolean }, unknown> {
  return {
    successes: [
      { ...successOf(resourceShape, 201, ' that was created'), created: createdResource },
      { ...successOf(resourceShape, 200, ' that existed already'), created: createdResource },
    ],
    render: ({ resource, created: isNew }) => ({
      status: isNew ? 201 : 200,
      ...renderResource(resourceShape, resource),
    }),
  };
}

function successOf<Resource>(
  { schema, revision }: Shape<Resource>,
  status: number,
  clause: string,
  description = `The ${nameOf(schema)}${clause}.`,
): Success {
  return { status, description, schema, hasRevision: revision !== undefined };
}

function renderResource<Resource>(
  { render, revision }: Shape<Resource>,
  resource: Resource,
): Pick<AnswerContent, 'body' | 'release' | 'revision'> {
  if (resource instanceof WrittenResource) {
    const { bytes, release } = WrittenResource.answer([resource]);
    return { body: bytes, release, revision: resource.revision };
  }
  // A shape takes its revision from a number of its fragment.
  const numbers = resource as Readonly<Record<string, number>>;
  return { body: render(resource), revision: revision === undefined ? undefined : numbers[revision] };
}

/** 204 without a body. */
export function noContent(): Reply<object, unknown> {
  return {
    successes: [{ status: 204, description: 'Done. There is no body.' }],
    render: () => ({ status: 204 }),
  };
}

/** 302 to a URL that is signed for this caller. */
export function redirect(): Reply<string, unknown> {
  return {
    successes: [
      {
        status: 302,
        description: '`Location` is a signed URL that is valid for some minutes.',
        hasLocation: true,
      },
    ],
    render: (location) => ({ status: 302, location }),
  };
}

/** A GraphQL connection, which becomes a list. */
export interface Connection<Node> {
  readonly nodes: readonly Node[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly totalCount: number;
  /** Absent for lists whose total is always exact. */
  readonly totalCountIsExact?: boolean;
}

interface PageValues {
  readonly cursor: string | undefined;
  readonly page_size: number;
}

/** 200 with a page of resources: `{ results, pagination }`. If it is bounded, the total may be a lower bound. */
export function list<Node>(
  nodeShape: Shape<Node>,
  { isBounded = false } = {},
): Reply<Connection<Node>, PageValues> {
  const { schema, render } = nodeShape;
  const page: JsonSchema = {
    title: `${schema.title ?? 'Resource'}List`,
    type: 'object',
    properties: {
      results: { type: 'array', items: schema, maxItems: limits.pageSize },
      pagination: pagination.schema,
    },
    required: ['results', 'pagination'],
  };
  return {
    successes: [{ status: 200, description: 'A page of the list.', schema: page, isPaged: true, isBounded }],
    sizeVariable: 'first',
    // A page has no revision.
    rowRenderer: (path) =>
      shapeRenderer({ fields: nodeShape.fields, revision: undefined }, [...path, 'nodes']),
    render: (
      { nodes, pageInfo, totalCount, totalCountIsExact: isTotalExact },
      { cursor, page_size: pageSize },
    ) => {
      const nextCursor = pageInfo.hasNextPage ? (pageInfo.endCursor ?? '') : '';
      const hasMore = nextCursor !== '';
      const sent = { pageSize, cursor: cursor ?? '' };
      const source = { ...sent, nextCursor, hasMore, returnedCount: nodes.length, totalCount };
      const renderedPagination = pagination.render(source);
      const written = writtenPage(nodes, renderedPagination);
      const body = written?.bytes ?? { results: nodes.map(render), pagination: renderedPagination };
      return { status: 200, body, release: written?.release, nextCursor, isTotalExact };
    },
  };
}

/** The JSON of a page whose resources are JSON already; undefined if they are values. */
function writtenPage(nodes: readonly unknown[], pagination: object): WrittenAnswer | undefined {
  if (!areWritten(nodes)) return undefined;
  return WrittenResource.answer(
    nodes,
    pageStart,
    Buffer.from(`],"pagination":${JSON.stringify(pagination)}}`),
  );
}

function areWritten(nodes: readonly unknown[]): nodes is [WrittenResource, ...WrittenResource[]] {
  return nodes.length > 0 && nodes.every((node) => node instanceof WrittenResource);
}

const pageStart = Buffer.from('{"results":[');

interface PaginationSource {
  pageSize: number;
  cursor: string;
  nextCursor: string;
  hasMore: boolean;
  returnedCount: number;
  totalCount: number;
}

const pagination: Shape<PaginationSource> = shape('Pagination', {
  pageSize: integer('pageSize', { description: 'The maximum number of results of a page.' }),
  cursor: text(maxCursorLength, 'cursor', {
    description: 'The cursor of the request; empty when none was sent.',
  }),
  nextCursor: text(maxCursorLength, 'nextCursor', {
    description: 'The cursor of the next page; empty when there is none.',
  }),
  hasMore: boolean('hasMore', { description: 'Whether there is a next page.' }),
  returnedCount: integer('returnedCount', { description: 'The number of results of this page.' }),
  totalCount: integer('totalCount', {
    description: 'The number of results of all pages together.',
  }),
});

function nameOf({ title = 'resource' }: JsonSchema): string {
  return title.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}
