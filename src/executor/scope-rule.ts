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
import type { ScopeNeed } from '../schema/builder/scopes.ts';
import { usesVariables } from './compiled/selection.ts';
import { perVariant } from './variants.ts';

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
  if (principal && holdsAll(principal, needsOf(scoped), scoped.variables)) return;
  const missing = missingScopes(scoped, principal);
  if (missing.size > 0) throw new InsufficientScopeError(missing);
}

/** What each field lacks, by its coordinate; reads the whole operation. Throws `unauthenticated`. */
export function missingScopes(
  scoped: ScopedOperation,
  principal: Principal | undefined,
): ReadonlyMap<string, readonly Scope[]> {
  const missing = new Map<string, readonly Scope[]>();
  const require = (coordinate: string, need: ScopeNeed) => {
    if (need !== 'public' && !principal)
      throw new AppError('unauthenticated', 'This needs an access token: Authorization: Bearer wg_…');
    if (principal && !holds(principal, need)) missing.set(coordinate, scopesOf(need));
  };
  walkScopes(scoped, (coordinate, { scope, ofArguments }) => {
    if (scope !== undefined) require(coordinate, scope);
    if (!ofArguments || !principal) return;
    for (const need of ofArguments.needs(scoped.variables)) require(coordinate, need);
  });
  return missing;
}

function holds({ scopes }: Principal, need: ScopeNeed): boolean {
  return need === 'public' || need === 'token' || scopesOf(need).some((scope) => scopes.has(scope));
}

/** Any one of these would do. */
function scopesOf(need: ScopeNeed): readonly Scope[] {
  if (need === 'public' || need === 'token') return [];
  return typeof need === 'string' ? [need] : need;
}

/** What an operation needs, without where: each need once, and those that only the variables tell. */
interface Needs {
  readonly fixed: readonly ScopeNeed[];
  readonly ofVariables: readonly NeedsOfArguments['needs'][];
}

function holdsAll(principal: Principal, { fixed, ofVariables }: Needs, variables: Variables): boolean {
  const has = (need: ScopeNeed) => holds(principal, need);
  return fixed.every(has) && ofVariables.every((needs) => needs(variables).every(has));
}

const needsOf = perVariant((scoped: ScopedOperation): Needs => {
  const fixed = new Map<string, ScopeNeed>();
  const ofVariables: NeedsOfArguments['needs'][] = [];
  const note = (need: ScopeNeed) => fixed.set(String(need), need);
  walkScopes(scoped, (_coordinate, { scope, ofArguments }) => {
    if (scope !== undefined) note(scope);
    if (ofArguments?.vary) ofVariables.push(ofArguments.needs);
    else ofArguments?.needs({}).forEach(note);
  });
  return { fixed: [...fixed.values()], ofVariables };
});

type Variables = Record<string, unknown>;

/** What the arguments of a field open: `node(id)`. */
interface NeedsOfArguments {
  readonly needs: (variables: Variables) => readonly ScopeNeed[];
  /** Does it depend on variables. */
  readonly vary: boolean;
}

/** What one field of an operation needs. */
interface FieldNeeds {
  readonly scope: ScopeNeed | undefined;
  readonly ofArguments: NeedsOfArguments | undefined;
}

interface ScopeExtensions {
  scope?: ScopeNeed;
  /** For fields whose arguments say what they open. */
  scopeOfArguments?: (args: Record<string, unknown>) => readonly ScopeNeed[];
}

/** Tells the needs of each field that is not cut, by its coordinate, such as `Team.members`. */
function walkScopes(scoped: ScopedOperation, tell: ScopeWalk['tell']): void {
  const root = scoped.schema.getRootType(scoped.operation.operation);
  if (root) new ScopeWalk(scoped, tell).selections(scoped.operation.selectionSet, root);
}

class ScopeWalk {
  readonly tell: (coordinate: string, needs: FieldNeeds) => void;
  readonly #scoped: ScopedOperation;
  readonly #read = new Set<string>();

  constructor(scoped: ScopedOperation, tell: ScopeWalk['tell']) {
    this.#scoped = scoped;
    this.tell = tell;
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
    const { scope, scopeOfArguments } = field.extensions as ScopeExtensions;
    const ofArguments = scopeOfArguments && {
      needs: (variables: Variables) => scopeOfArguments(getArgumentValues(field, node, variables)),
      vary: usesVariables([node]),
    };
    this.tell(`${parent.name}.${node.name.value}`, { scope, ofArguments });
    const type = getNamedType(field.type);
    if (node.selectionSet && isCompositeType(type)) this.selections(node.selectionSet, type);
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
