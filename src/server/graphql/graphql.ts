import { type GraphQLSchema, OperationTypeNode } from 'graphql';
import type { createYoga, Plugin } from 'graphql-yoga';
import { DocumentReader } from '../../executor/documents/reader.ts';
import { thrownErrors } from '../../executor/invalid-request.ts';
import { formatError } from '../../executor/answers/errors.ts';
import { chooseOperation, executeOperation } from '../../executor/run/execute.ts';
import { idempotencyKeyOf, type OperationResult } from '../../executor/answers/idempotent.ts';
import { withoutSuggestions } from '../../executor/documents/introspection.ts';
import { PersistedDocuments, type TrustedDocuments } from '../../executor/documents/persisted.ts';
import { EarlierAnswers } from '../../executor/answers/revalidation.ts';
import { raise } from '../../resolvers/errors.ts';
import { type HttpReply, unchangedReply } from '../../rest-compat/http-reply.ts';
import type { Introspection } from '../config.ts';
import { graphiqlReply } from './graphiql.ts';
import { acceptedMediaType, type GraphQLMediaType, parametersOf, prefersHtml } from './graphql-request.ts';
import { type GraphSources, contextOfVisitor } from './graphql-visitors.ts';
import { directReply, httpOf, type OperationRun, taggedReply } from './operation-replies.ts';
import { refusal } from './refusal.ts';
import { subscriptionReply } from './subscriptions.ts';
import type { ServerRequest } from '../http/request.ts';
import { callerOfAddress } from '../limits/rate-limit.ts';
import { FirstPieces } from '../limits/first-pieces.ts';
import { pageDocuments } from '../pages/page-documents.ts';
import { SchemaAccess } from './schema-access.ts';

/** Answers the requests to `/graphql`. */
export interface GraphQLHandler {
  /** How many documents are cached with their plans. */
  documents(): number;
  handle(request: ServerRequest): Promise<HttpReply>;
  /** Whether the request counts against its token. */
  counts(request: Pick<ServerRequest, 'method' | 'headers'>): boolean;
}

export interface GraphQLOptions {
  explorer: boolean;
  introspection?: Introspection | undefined;
  graphqlPath?: 'direct' | 'general' | undefined;
  documents?: TrustedDocuments | undefined;
  /** Called with failures that no client has caused. */
  warn: (details: Record<string, unknown>, message: string) => void;
}

/** An operation name may be as long as a document. In headers and log lines it is cut off. */
const maxOperationNameLength = 100;

/** The parts that every operation needs. */
interface Graph extends GraphSources {
  readonly schemaAccess: SchemaAccess;
  readonly earlierAnswers: EarlierAnswers;
  readonly firstPieces: FirstPieces;
}

/**
 * GraphQL over HTTP. Requests that fail before GraphQL (method, media types, token, size) are refused here, with the same status
 * for both media types. Yoga does the rest.
 */
export function createGraphQLHandler(
  schema: GraphQLSchema,
  { explorer, introspection = 'public', graphqlPath = 'direct', documents: trusted, warn }: GraphQLOptions,
): GraphQLHandler {
  const reader = new DocumentReader(schema);
  const schemaAccess = new SchemaAccess(schema, introspection);
  const { manifest = new Map(), refusesOthers = false } = trusted ?? {};
  const own = explorer ? pageDocuments : undefined;
  const documents = new PersistedDocuments(reader, { manifest, own, refusesOthers }, (documentId, error) =>
    warn({ documentId, err: error }, 'a document of the manifest cannot be used'),
  );
  const graph = {
    schema,
    documents,
    schemaAccess,
    earlierAnswers: new EarlierAnswers(),
    firstPieces: new FirstPieces(),
  };
  // Loaded when needed: these are a third of all modules, and no POST and no REST request needs them.
  let yoga: Promise<ReturnType<typeof createGraphQLYoga>> | undefined;
  const asksForPage = ({ method, headers }: Pick<ServerRequest, 'method' | 'headers'>) =>
    explorer && method === 'GET' && prefersHtml(headers.accept);
  return {
    counts: (request) => isGetOrPost(request) && !asksForPage(request),
    documents: () => reader.size,
    async handle(request) {
      request.labels = { face: 'graphql', route: '/graphql', operation: 'other' };
      if (asksForPage(request)) return graphiqlReply();
      if (request.method === 'OPTIONS') return { status: 204, headers: { Allow: methods } };
      const mediaType = acceptedMediaType(request.headers.accept);
      try {
        const { parameters, operation, accepted } = await authenticateAndParse(graph, request, mediaType);
        const context: OperationRun = {
          parameters,
          operation,
          incoming: request,
          mediaType: accepted,
          revalidation: isRead(request, accepted)
            ? graph.earlierAnswers.revalidation(request, operation)
            : undefined,
          opened: {},
        };
        const { opened, revalidation } = context;
        const isDirect = graphqlPath === 'direct' && (request.method === 'POST' || revalidation);
        // Yoga would send events in a form of its own.
        if (isDirect || accepted === 'text/event-stream') {
          const result = await run(graph, context, 'json');
          if (revalidation?.unchanged) return unchangedReply(revalidation.unchanged);
          const reply = directReply(result, context);
          return revalidation && !result.errors ? taggedReply(reply, revalidation) : reply;
        }
        const init = { method: request.method, headers: { accept: accepted } };
        yoga ??= import('graphql-yoga').then(({ createYoga }) => createGraphQLYoga(createYoga, graph));
        const response = await (await yoga).fetch('http://workgraph/graphql', init, context);
        if (opened.stream) return opened.stream;
        if (revalidation?.unchanged) return unchangedReply(revalidation.unchanged);
        const reply = {
          status: response.status,
          headers: { ...Object.fromEntries(response.headers), Vary: 'Accept' },
          body: await response.text(),
        };
        return opened.isTagged ? taggedReply(reply, revalidation) : reply;
      } catch (error) {
        return refusal(error, request, mediaType, methods);
      }
    },
  };
}

/** Checks a request, in this order, before its document is read. */
async function authenticateAndParse(
  graph: Graph,
  request: ServerRequest,
  accepted: GraphQLMediaType | undefined,
) {
  if (!isGetOrPost(request)) raise('method_not_allowed', 'GraphQL requests use GET or POST.');
  const authenticated = await request.context();
  const operation = authenticated.principal ? authenticated : await contextOfVisitor(graph, request);
  if (!accepted)
    raise(
      'not_acceptable',
      'The media type of answers is application/json, application/graphql-response+json or text/event-stream.',
    );
  return { parameters: await parametersOf(request), operation, accepted };
}

/** Whether the request reads an answer that can be conditional. A stream cannot. */
function isRead({ method }: Pick<ServerRequest, 'method'>, accepted: GraphQLMediaType): boolean {
  return method === 'GET' && accepted !== 'text/event-stream';
}

/** A query of the schema waits for its turn like a document of this size, so that two of them never have one turn. */
const schemaBytes = 65_536;

/** The methods of `/graphql`, as `Allow` lists them. */
const methods = 'GET, POST, OPTIONS';

function isGetOrPost({ method }: Pick<ServerRequest, 'method'>): boolean {
  return method === 'GET' || method === 'POST';
}

function createGraphQLYoga(create: typeof createYoga, graph: Graph) {
  return create<OperationRun>({
    schema: graph.schema,
    plugins: [operations(graph)],
    // An error outside of an operation is answered and logged like the refusals above.
    maskedErrors: { maskError: rethrow },
    logging: false,
    batching: false,
    multipart: false,
    cors: false,
    graphiql: false,
    landingPage: false,
    parserAndValidationCache: false,
    maxRequestBodySize: false,
  });
}

function rethrow(error: unknown): never {
  throw error;
}

/** Reads, checks and runs operations with the executor, and chooses the status of the answer. */
function operations(graph: Graph): Plugin<OperationRun, OperationRun> {
  return {
    onRequestParse: ({ serverContext, setRequestParser }) => {
      const { operationName, variables, query = '' } = serverContext.parameters;
      // Yoga requires a text, even if the document is named by its id.
      setRequestParser(() => ({ query, operationName, variables }));
    },
    onParams: ({ context, setParamsHandler }) => {
      setParamsHandler(async () => {
        const { replayed, ...result } = await run(graph, context, 'data');
        const http = httpOf({ ...result, replayed }, context);
        context.opened.isTagged = context.incoming.method === 'GET' && !result.errors;
        const extensions = { ...result.extensions, http };
        // Yoga creates errors again, and would look for their locations in a text that it does not have.
        const answer = { ...result, extensions, stringify: () => JSON.stringify(result) };
        return answer;
      });
    },
  };
}

function run(graph: Graph, context: OperationRun, form: 'data' | 'json'): Promise<OperationResult> {
  const running = runWithSuggestions(graph, context, form);
  if (!graph.schemaAccess.isHiddenFrom(context.operation)) return running;
  return running.then((result) =>
    result.errors ? { ...result, errors: result.errors.map(withoutSuggestions) } : result,
  );
}

async function runWithSuggestions(
  { schema, documents, schemaAccess, firstPieces }: Graph,
  context: OperationRun,
  form: 'data' | 'json',
): Promise<OperationResult> {
  const { parameters, operation, incoming } = context;
  const caller = operation.principal?.tokenId ?? callerOfAddress(operation.address);
  try {
    // The operation is checked and compiled in the same turn of the event loop, unless its workspace has no place left.
    const newText = documents.newText(parameters);
    // The text may be in the URL, and the body may have large variables.
    if (newText !== undefined) await incoming.documentTurn(Math.max(incoming.bodyBytes, newText.length));
    const document = documents.find(parameters, operation.principal !== undefined);
    schemaAccess.check(document, operation);
    // A short document can ask for much of the schema, which takes as long as preparing a large document and needs no token.
    const asksForSchema = schemaAccess.asksForSchema(document);
    if (asksForSchema) await incoming.documentTurn(schemaBytes);
    const { operationName, variables } = parameters;
    const chosen = chooseOperation(document, operationName);
    const name = (chosen.name?.value ?? '').slice(0, maxOperationNameLength);
    incoming.noteOperation(name);
    if (name !== '' && documents.isTrusted(parameters)) incoming.labels.operation = name;
    if (incoming.method === 'GET' && chosen.operation === OperationTypeNode.MUTATION) {
      raise('method_not_allowed', 'A GET cannot change anything: send mutations with POST.');
    }
    const turnBytes = asksForSchema ? undefined : firstPieces.turnOf(caller, document);
    if (turnBytes !== undefined) await incoming.documentTurn(turnBytes);
    if (operation.principal) await incoming.takeWorkspacePlace();
    if (chosen.operation === OperationTypeNode.SUBSCRIPTION) {
      context.isSubscription = true;
      const request = { schema, document, operationName, variables };
      context.opened.stream = await subscriptionReply(request, operation, incoming, name);
      return {};
    }
    const idempotencyKey = idempotencyKeyOf(incoming.headers);
    const execute = () =>
      executeOperation({
        schema,
        document,
        operationName,
        variables,
        context: operation,
        form,
        idempotencyKey,
        reportCost: incoming.headers['x-graphql-cost'] === '1',
        revalidation: context.revalidation,
      });
    // The first piece of a new document is mostly its compilation.
    const hasTakenTurn = asksForSchema || newText !== undefined;
    return await (hasTakenTurn ? execute() : firstPieces.measure(caller, document, execute));
  } catch (error) {
    return {
      errors: thrownErrors(error).map((each) => formatError(each, operation.requestId, operation.report)),
    };
  }
}
