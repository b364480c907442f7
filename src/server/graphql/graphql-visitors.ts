import { type GraphQLSchema, Source } from 'graphql';
import { parseText } from '../../executor/document.ts';
import { chooseOperation, fragmentsOf, type OperationContext } from '../../executor/execute.ts';
import { checkScopes } from '../../executor/scope-rule.ts';
import type { PersistedDocuments } from '../../executor/persisted-documents.ts';
import { AppError } from '../../resolvers/errors.ts';
import { parametersOf } from './graphql-request.ts';
import type { ServerRequest } from '../http/request.ts';

/** What a document is judged by. */
export interface AskedGraph {
  readonly schema: GraphQLSchema;
  readonly documents: PersistedDocuments;
}

/**
 * Lets a caller without a token in, if its address has quota left. Even if not, it is told first that it needs a
 * token for what it asks, as on REST: so much is seen once the document is parsed.
 */
export async function admitVisitor(graph: AskedGraph, request: ServerRequest): Promise<OperationContext> {
  try {
    return await request.visitor();
  } catch (refusal) {
    const needsToken = await whetherNeedsToken(graph, request).catch(() => undefined);
    throw needsToken ?? refusal;
  }
}

/** The refusal of what is not public; undefined for what is, or cannot be read. */
async function whetherNeedsToken(
  { schema, documents }: AskedGraph,
  request: ServerRequest,
): Promise<AppError | undefined> {
  const { query, documentId, operationName } = await parametersOf(request);
  const document = query === undefined ? documents.find({ documentId }, false) : parseText(new Source(query));
  const operation = chooseOperation(document, operationName);
  try {
    checkScopes({ schema, operation, fragments: fragmentsOf(document), variables: {} }, undefined);
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthenticated') return error;
  }
  return undefined;
}
