import { type GraphQLSchema, Source } from 'graphql';
import { parseText } from '../../executor/documents/reader.ts';
import { chooseOperation, type OperationContext } from '../../executor/run/execute.ts';
import { fragmentsOf } from '../../executor/selections/operation.ts';
import { checkScopes } from '../../executor/selections/scope-rule.ts';
import type { PersistedDocuments } from '../../executor/documents/persisted.ts';
import { AppError } from '../../resolvers/errors.ts';
import { parametersOf } from './graphql-request.ts';
import type { ServerRequest } from '../http/request.ts';

/** The schema and the known documents, which the check of a request needs. */
export interface GraphSources {
  readonly schema: GraphQLSchema;
  readonly documents: PersistedDocuments;
}

/**
 * The context of a caller without a token, if its address has quota left. If the operation needs a token, that error comes first,
 * even without quota, as on REST. For that, the document has to be parsed.
 */
export async function contextOfVisitor(
  graph: GraphSources,
  request: ServerRequest,
): Promise<OperationContext> {
  try {
    return await request.publicContext();
  } catch (refusal) {
    const needsToken = await missingTokenError(graph, request).catch(() => undefined);
    throw needsToken ?? refusal;
  }
}

/** The refusal of an operation that is not public; undefined for a public one and for a document that cannot be read. */
async function missingTokenError(
  { schema, documents }: GraphSources,
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
