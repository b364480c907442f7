import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { type DocumentNode, Kind, type OperationDefinitionNode, OperationTypeNode } from 'graphql';
import { GraphQLClient } from 'graphql-request';
import { requireMediaType, isObject, parseJsonObject } from './answers.ts';
import type { Connection } from './connection.ts';
import { errorOfGraphQL, errorOfResponse, unexpectedAnswerError } from './errors.ts';
import { mutationsWithoutKey } from './keyless.generated.ts';
import { type NameDocument, parseIfValid } from './manifest.ts';
import { newKey, type Send } from './retries.ts';

/** A document with the types of its data and variables, or an untyped text. */
export type Document<Data, Variables> = TypedDocumentNode<Data, Variables> | string;

export interface GraphOptions {
  /** Aborts the request, and the wait between retries. */
  readonly signal?: AbortSignal;
  /** The Idempotency-Key of a write, with which another process can retry it. By default each call gets its own. */
  readonly idempotencyKey?: string;
}

/** Variables may be left out if none is required. */
export type VariablesAnd<Variables, Options> =
  Record<never, never> extends Variables
    ? [variables?: Variables, options?: Options]
    : [variables: Variables, options?: Options];

export interface Graph {
  /** Runs a query or a mutation. */
  request<Data, Variables>(
    document: Document<Data, Variables>,
    ...rest: VariablesAnd<Variables, GraphOptions>
  ): Promise<Data>;
  /**
   * All nodes of a connection, page by page. The query passes `$after` on to it and selects `nodes` and
   * `pageInfo { hasNextPage endCursor }`.
   */
  nodes<Data, Variables extends { after?: string | null | undefined }, Node>(
    document: TypedDocumentNode<Data, Variables>,
    variables: Variables,
    connectionOf: (data: Data) => Connection<Node> | null | undefined,
    options?: Pick<GraphOptions, 'signal'>,
  ): AsyncGenerator<Node, void, undefined>;
}

export function createGraph(
  url: string,
  headers: Record<string, string>,
  send: Send,
  nameOf: NameDocument,
): Graph {
  async function request<Data, Variables>(
    document: Document<Data, Variables>,
    ...[variables, { signal, idempotencyKey } = {}]: VariablesAnd<Variables, GraphOptions>
  ): Promise<Data> {
    const operation = operationOf(document);
    const key = idempotencyKey ?? (isKeyed(operation) ? newKey() : undefined);
    const mayRetry = key !== undefined || operation?.operation === OperationTypeNode.QUERY;
    const client = new GraphQLClient(url, {
      headers: { ...headers, ...(key !== undefined && { 'Idempotency-Key': key }) },
      fetch: async (input, init) =>
        requireData(await send(new Request(input, { ...init, redirect: 'manual' }), { mayRetry })),
      jsonSerializer: {
        // A document of the manifest is sent by its id.
        stringify: () => JSON.stringify({ ...nameOf(document), variables: variables ?? {} }),
        parse: JSON.parse,
      },
    });
    return client.request<Data>({ document, variables: variables ?? {}, ...(signal && { signal }) });
  }

  return {
    request,
    async *nodes(document, variables, connectionOf, options = {}) {
      let { after } = variables;
      for (;;) {
        const requestArguments = [{ ...variables, after }, options] as unknown;
        const data = await request(
          document,
          ...(requestArguments as VariablesAnd<typeof variables, GraphOptions>),
        );
        const connection = connectionOf(data);
        if (!connection) return;
        yield* connection.nodes;
        const { hasNextPage, endCursor } = connection.pageInfo;
        if (!hasNextPage || endCursor == null) return;
        after = endCursor;
      }
    },
  };
}

/** The same answer, if it has data and no errors. Throws otherwise. */
async function requireData(response: Response): Promise<Response> {
  if (!response.ok) throw await errorOfResponse(response);
  await requireMediaType(response, true);
  const text = await response.text();
  const { data, errors } = parseJsonObject(text, response);
  if (errors != null) throw errorOfGraphQL(errors, response);
  if (!isObject(data)) throw unexpectedAnswerError(response);
  return new Response(text, response);
}

/** Whether the server accepts an Idempotency-Key for it: a mutation of one field whose answer contains no secret. */
function isKeyed(operation: OperationDefinitionNode | undefined): boolean {
  if (operation?.operation !== OperationTypeNode.MUTATION) return false;
  const [field, another] = operation.selectionSet.selections;
  return field?.kind === Kind.FIELD && !another && !mutationsWithoutKey.has(field.name.value);
}

function operationOf(document: DocumentNode | string): OperationDefinitionNode | undefined {
  return parseIfValid(document)?.definitions.find(
    (definition) => definition.kind === Kind.OPERATION_DEFINITION,
  );
}
