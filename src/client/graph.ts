import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { type DocumentNode, Kind, type OperationDefinitionNode, OperationTypeNode, parse } from 'graphql';
import { ClientError, GraphQLClient } from 'graphql-request';
import type { Connection } from './connection.ts';
import { errorOfGraph, errorOfResponse } from './errors.ts';
import { mutationsWithoutKey } from './keyless.generated.ts';
import { newKey } from './retries.ts';

/** A document with the types of its data and variables, or an untyped text. */
export type Document<Data, Variables> = TypedDocumentNode<Data, Variables> | string;

export interface GraphOptions {
  /** Aborts the request, and the waiting between repetitions. */
  readonly signal?: AbortSignal;
  /** The Idempotency-Key of a write, with which another process can repeat it. By default each call gets its own. */
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

type Send = (request: Request, mayRepeat: boolean) => Promise<Response>;

export function createGraph(url: string, headers: Record<string, string>, send: Send): Graph {
  async function request<Data, Variables>(
    document: Document<Data, Variables>,
    ...[variables, { signal, idempotencyKey } = {}]: VariablesAnd<Variables, GraphOptions>
  ): Promise<Data> {
    const key = idempotencyKey ?? (isKeyed(document) ? newKey() : undefined);
    const client = new GraphQLClient(url, {
      headers: { ...headers, ...(key !== undefined && { 'Idempotency-Key': key }) },
      fetch: (input, init) => send(new Request(input, init), key !== undefined || !isMutation(document)),
    });
    try {
      return await client.request<Data>({
        document,
        variables: variables ?? {},
        ...(signal && { signal }),
      });
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      const { errors, status, headers, body } = error.response;
      const answer = { status, headers };
      throw errors ? errorOfGraph(errors, answer) : await errorOfResponse(new Response(body, answer));
    }
  }

  return {
    request,
    async *nodes(document, variables, connectionOf, options = {}) {
      let { after } = variables;
      for (;;) {
        const rest = [{ ...variables, after }, options] as unknown;
        const data = await request(document, ...(rest as VariablesAnd<typeof variables, GraphOptions>));
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

/** Whether the server accepts an Idempotency-Key for the document: a mutation of one field whose answer contains no secret. */
function isKeyed(document: DocumentNode | string): boolean {
  const operation = operationOf(document);
  if (operation?.operation !== OperationTypeNode.MUTATION) return false;
  const [field, another] = operation.selectionSet.selections;
  return field?.kind === Kind.FIELD && !another && !mutationsWithoutKey.has(field.name.value);
}

function isMutation(document: DocumentNode | string): boolean {
  return operationOf(document)?.operation === OperationTypeNode.MUTATION;
}

function operationOf(document: DocumentNode | string): OperationDefinitionNode | undefined {
  const { definitions } = typeof document === 'string' ? parse(document) : document;
  return definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION);
}
