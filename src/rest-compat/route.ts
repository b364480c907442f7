import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import type { RowRenderer } from '../executor/compiled/writing/row-renderer.ts';
import { fragmentsOf } from '../executor/selections/operation.ts';
import type { ScopeNeed } from '../schema/builder/scopes.ts';
import { type Body, type BodyValues, type BodyFields, readBody } from './body.ts';
import {
  idempotencyKey,
  ifNoneMatch,
  nounsOf,
  type Parameters,
  type ParameterValues,
  type PathPart,
  readParameters,
  type SentParameters,
} from './params.ts';
import { stepsOf, type ValueAt, valueAt } from './paths.ts';
import type { AnswerContent, Reply, Success } from './replies.ts';
import type { Violation } from './values.ts';

/** A code with which only some operations fail. */
export type RouteFailure = 'conflict' | 'cursor_expired' | 'too_many_streams';

/** The methods of routes. HEAD and OPTIONS follow from them. */
export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

type PathNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never;

/** Picks the part of the data to answer with: a path or a function. */
type Picker<Data, Values, DataPath extends string, Result> =
  | DataPath
  | ((data: Data, values: Values) => Result | null | undefined);

/** With a function, `DataPath` cannot be inferred and is any string. */
type PickedData<Data, DataPath extends string, Result> = string extends DataPath
  ? Result
  : NonNullable<ValueAt<Data, DataPath>>;

/** One endpoint as data: its parameters, the operation that it runs, and its reply. */
export interface RouteDeclaration<
  Path extends string,
  P extends Parameters,
  F extends BodyFields,
  Data,
  Variables extends Record<string, unknown>,
  DataPath extends string,
  Result,
> {
  method: Method;
  path: Path;
  /** The scope that the token must have. The operation needs no other. */
  scope: Extract<ScopeNeed, string>;
  summary: string;
  parameters: P & Readonly<Record<PathNames<Path>, PathPart>>;
  body?: Body<F>;
  operation: TypedDocumentNode<Data, Variables>;
  variables: (parameters: ParameterValues<P>, body: BodyValues<F>) => NoInfer<Variables>;
  /** The violations of parameters that only the operation can detect. If there are any, its data is not shown. */
  check?: (data: Data, parameters: ParameterValues<P>) => readonly Violation[];
  /** Picks the part of the data to answer with. Null or undefined means `not_found`. */
  pick: Picker<Data, ParameterValues<P>, DataPath, Result>;
  reply: Reply<PickedData<Data, DataPath, Result>, ParameterValues<P>>;
  /** The message of `not_found`, where "There is no such issue." is not enough. */
  notFoundMessage?: string;
  /** The failures of the operation, in addition to those that follow from the rest of the route. */
  failures?: readonly RouteFailure[];
  /** The names in REST of arguments and input fields that have another name in GraphQL. */
  restNames?: Readonly<Record<string, (keyof F | keyof P) & string>>;
  /** Whether it refuses an Idempotency-Key, as its mutation does. */
  takesNoKey?: true;
  /** Whether problems have only `type`, `title`, `status` and `detail`, as those of probes. */
  hasShortProblems?: true;
  /** Whether the route is a probe, which is always answered and counts against no quota. */
  isProbe?: true;
}

/** What a request sends to a route, before it is checked. */
export interface SentRequest extends SentParameters {
  body: unknown;
}

/** A checked request: refused, for a resource that cannot exist, or ready to run. */
export type CheckedRequest =
  | { verdict: 'refused'; code: 'invalid_request' | 'validation_failed'; violations: readonly Violation[] }
  | { verdict: 'notFound' }
  | {
      verdict: 'ready';
      variables: Record<string, unknown>;
      idempotencyKey: string | undefined;
      answer: (data: unknown) => Outcome;
    };

/** The result of a route's operation. */
export type Outcome =
  | { verdict: 'refused'; code: 'invalid_request'; violations: readonly Violation[] }
  | { verdict: 'notFound' }
  | { verdict: 'rendered'; rendered: AnswerContent };

/** A declared route without its type parameters, for the handler and for OpenAPI. */
export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly scope: Extract<ScopeNeed, string>;
  readonly summary: string;
  readonly parameters: Parameters;
  readonly body: Body<BodyFields> | undefined;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode & { readonly name: { readonly value: string } };
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly successes: readonly Success[];
  /** How the compiled executor writes the resources of the reply. */
  readonly rowRenderer: RowRenderer | undefined;
  /** The variable with the number of rows that are read, where fewer may be answered. */
  readonly sizeVariable: string | undefined;
  readonly restNames: Readonly<Record<string, string>>;
  readonly hasShortProblems: boolean;
  readonly isProbe: boolean;
  /** Whether its answer can be a stream of events. */
  readonly canStream: boolean;
  readonly failures: readonly RouteFailure[];
  /** The message of `not_found`; undefined if the path names no resource. */
  readonly notFoundMessage: string | undefined;
  /** Checks all parameters, then the whole body. */
  readonly check: (sent: SentRequest) => CheckedRequest;
}

// The arguments of all connections, and their names in REST.
const pageNames = { after: 'cursor', first: 'page_size' };

/** Declares a route. Its types check that the parts match each other and the operation. */
export function route<
  const Path extends string,
  P extends Parameters,
  F extends BodyFields,
  Data,
  Variables extends Record<string, unknown>,
  const DataPath extends string,
  Result,
>(declaration: RouteDeclaration<Path, P, F, Data, Variables, DataPath, Result>): Route {
  const { method, path, scope, summary, body, operation: document } = declaration;
  const operation = operationOf(document);
  const answerParts = {
    check: declaration.check,
    pick: pickerOf(declaration.pick),
    reply: declaration.reply,
  };
  const writes = operation.operation === OperationTypeNode.MUTATION;
  const hasTag = !writes && declaration.reply.successes.some(({ schema }) => schema !== undefined);
  const parameters: Parameters = {
    ...declaration.parameters,
    ...(writes && !declaration.takesNoKey && idempotencyKey),
    ...(hasTag && ifNoneMatch),
  };
  return {
    method,
    path,
    scope,
    summary,
    parameters,
    body,
    document,
    operation,
    fragments: fragmentsOf(document),
    successes: declaration.reply.successes,
    rowRenderer: rowRendererOf(declaration),
    sizeVariable: declaration.reply.sizeVariable,
    restNames: { ...pageNames, ...declaration.restNames },
    hasShortProblems: declaration.hasShortProblems ?? false,
    isProbe: declaration.isProbe ?? false,
    canStream: declaration.reply.successes.some(({ hasStream }) => hasStream),
    failures: declaration.failures ?? [],
    notFoundMessage: declaration.notFoundMessage ?? defaultNotFoundMessage(parameters),
    check: (sent) => {
      const query = readParameters(parameters, sent);
      if (declaration.takesNoKey && sent.headers?.['idempotency-key'] !== undefined) {
        const message = 'is not accepted here, because the response cannot be repeated';
        query.violations.push({ field: 'Idempotency-Key', message });
      }
      if (query.violations.length > 0) return refusal('invalid_request', query.violations);
      const fields = body ? readBody(body, sent.body) : { values: {}, violations: [] };
      if (fields.violations.length > 0) return refusal('validation_failed', fields.violations);
      if (query.isNotFound) return { verdict: 'notFound' };
      // The types of the values follow from the declarations that read them.
      const values = query.values as ParameterValues<P>;
      return {
        verdict: 'ready',
        variables: declaration.variables(values, fields.values as BodyValues<F>),
        idempotencyKey: query.values['Idempotency-Key'] as string | undefined,
        answer: (data) => outcomeOf(answerParts, data as Data, values),
      };
    },
  };
}

function outcomeOf<Data, Values, Picked>(
  { check, pick, reply }: AnswerParts<Data, Values, Picked>,
  data: Data,
  values: Values,
): Outcome {
  const violations = check?.(data, values) ?? [];
  if (violations.length > 0) return { verdict: 'refused', code: 'invalid_request', violations };
  const picked = pick(data, values);
  if (picked === null || picked === undefined) return { verdict: 'notFound' };
  return { verdict: 'rendered', rendered: reply.render(picked, values) };
}

/**
 * The row renderer of a route that picks by a path. A number in the path leads to an item of a list, and not to another
 * selection.
 */
function rowRendererOf({ pick, reply }: { pick: unknown; reply: Pick<Reply<never, never>, 'rowRenderer'> }) {
  if (typeof pick !== 'string') return undefined;
  return reply.rowRenderer?.(stepsOf(pick).filter((step) => step !== '0'));
}

function pickerOf<Data, Values, DataPath extends string, Result>(
  pick: Picker<Data, Values, DataPath, Result>,
): AnswerParts<Data, Values, PickedData<Data, DataPath, Result>>['pick'] {
  const steps = typeof pick === 'string' ? stepsOf(pick) : [];
  const read = typeof pick === 'string' ? (data: Data) => valueAt(data, steps) : pick;
  // The types of the declaration follow the path.
  return read as AnswerParts<Data, Values, PickedData<Data, DataPath, Result>>['pick'];
}

interface AnswerParts<Data, Values, Picked> {
  check?: ((data: Data, values: Values) => readonly Violation[]) | undefined;
  pick: (data: Data, values: Values) => Picked | null | undefined;
  reply: Reply<Picked, Values>;
}

function defaultNotFoundMessage(parameters: Parameters): string | undefined {
  const nouns = nounsOf(parameters);
  return nouns.length > 0 ? `There is no such ${nouns.join(' or ')}.` : undefined;
}

function refusal(
  code: 'invalid_request' | 'validation_failed',
  violations: readonly Violation[],
): CheckedRequest {
  return { verdict: 'refused', code, violations };
}

function operationOf({ definitions }: DocumentNode): Route['operation'] {
  const operation = definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  if (!operation?.name) throw new Error('The document of the route has no named operation.');
  return { ...operation, name: operation.name };
}
