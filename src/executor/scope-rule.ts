import {
  type FieldNode,
  type FragmentDefinitionNode,
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  GraphQLIncludeDirective,
  type GraphQLNamedType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Principal, Scope } from '../resolvers/context.ts';
import { AppError } from '../resolvers/errors.ts';
import type { ScopeNeed } from '../schema/scopes.ts';

/** An operation as it will run: its document's fragments and its coerced variables. */
export interface ScopedOperation {
  schema: GraphQLSchema;
  operation: OperationDefinitionNode;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  variables: Record<string, unknown>;
}

/** The token lacks scopes; `scopes` are those that would do, as a challenge names them (RFC 6750). */
export class InsufficientScopeError extends AppError {
  readonly scopes: readonly Scope[];

  constructor(missing: ReadonlyMap<string, readonly Scope[]>) {
    const violations = [...missing].map(([field, scopes]) => ({
      field,
      message: `needs ${scopes.join(' or ')}`,
    }));
    const named = violations.map(({ field, message }) => `${field} ${message}`).join(', ');
    super('forbidden', `The access token lacks scopes: ${named}.`, violations);
    this.name = 'InsufficientScopeError';
    this.scopes = [...new Set([...missing.values()].flatMap(([first]) => first ?? []))];
  }
}

/**
 * Refuses an operation before it runs when any of its fields needs more than the principal has, naming all of
 * them at once. Fields that `@skip` and `@include` cut do not count; each fragment is read once.
 */
export function checkScopes(scoped: ScopedOperation, principal: Principal | undefined): void {
  const root = scoped.schema.getRootType(scoped.operation.operation);
  if (!root) return;
  const walk = new ScopeWalk(scoped, principal);
  walk.selections(scoped.operation.selectionSet, root);
  if (walk.missing.size > 0) throw new InsufficientScopeError(walk.missing);
}

interface ScopeExtensions {
  scope?: ScopeNeed;
  /** For fields whose arguments say what they open: `node(id)`. */
  scopeOfArguments?: (args: Record<string, unknown>) => readonly ScopeNeed[];
}

class ScopeWalk {
  /** By coordinate, such as `Team.members`: the scopes of which one is needed. */
  readonly missing = new Map<string, readonly Scope[]>();
  readonly #scoped: ScopedOperation;
  readonly #principal: Principal | undefined;
  readonly #read = new Set<string>();

  constructor(scoped: ScopedOperation, principal: Principal | undefined) {
    this.#scoped = scoped;
    this.#principal = principal;
  }

  selections(selectionSet: SelectionSetNode, parent: GraphQLNamedType): void {
    for (const selection of selectionSet.selections) {
      if (this.#isCut(selection)) continue;
      if (selection.kind === Kind.FIELD) this.#field(selection, parent);
      else if (selection.kind === Kind.INLINE_FRAGMENT) {
        this.selections(selection.selectionSet, this.#type(selection.typeCondition?.name.value) ?? parent);
      } else this.#fragment(selection.name.value);
    }
  }

  /** What a fragment needs does not depend on where it is spread, so a document that multiplies them costs nothing. */
  #fragment(name: string): void {
    const fragment = this.#scoped.fragments.get(name);
    if (!fragment || this.#read.has(name)) return;
    this.#read.add(name);
    const type = this.#type(fragment.typeCondition.name.value);
    if (type) this.selections(fragment.selectionSet, type);
  }

  #field(node: FieldNode, parent: GraphQLNamedType): void {
    const field =
      isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[node.name.value] : undefined;
    // Introspection's own fields belong to no type and need nothing.
    if (!field) return;
    const coordinate = `${parent.name}.${node.name.value}`;
    const { scope, scopeOfArguments } = field.extensions as ScopeExtensions;
    if (scope !== undefined) this.#require(coordinate, scope);
    if (scopeOfArguments && this.#principal) {
      const args = getArgumentValues(field, node, this.#scoped.variables);
      for (const need of scopeOfArguments(args)) this.#require(coordinate, need);
    }
    const type = getNamedType(field.type);
    if (node.selectionSet && isCompositeType(type)) this.selections(node.selectionSet, type);
  }

  #require(coordinate: string, need: ScopeNeed): void {
    if (need === 'public') return;
    if (!this.#principal)
      throw new AppError('unauthenticated', 'This needs an access token: Authorization: Bearer wg_…');
    if (need === 'token') return;
    const scopes: readonly Scope[] = typeof need === 'string' ? [need] : need;
    const held = this.#principal.scopes;
    if (!scopes.some((scope) => held.has(scope))) this.missing.set(coordinate, scopes);
  }

  #isCut(node: SelectionNode): boolean {
    const { variables } = this.#scoped;
    if (!node.directives?.length) return false;
    const skip = getDirectiveValues(GraphQLSkipDirective, node, variables);
    const include = getDirectiveValues(GraphQLIncludeDirective, node, variables);
    return skip?.if === true || include?.if === false;
  }

  #type(name: string | undefined): GraphQLNamedType | undefined {
    return name === undefined ? undefined : this.#scoped.schema.getType(name);
  }
}
