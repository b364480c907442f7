import type { Principal, Scope } from '../../resolvers/context.ts';
import { AppError } from '../../resolvers/errors.ts';
import { extensionsOf } from '../../schema/builder/output-extensions.ts';
import type { ScopeNeed } from '../../schema/builder/scopes.ts';
import { argumentReader } from '../inputs/argument-values.ts';
import { usesVariables } from '../compiled/compile/selection.ts';
import type { CoercedOperation } from './operation.ts';
import { visitFields } from './selected-fields.ts';
import { perVariant } from './variants.ts';

/** The token lacks scopes; `scopes` are those that it would need, for the challenge (RFC 6750). */
export class InsufficientScopeError extends AppError {
  readonly scopes: readonly Scope[];

  constructor(missing: readonly MissingScopes[]) {
    const violations = missing.map(({ field, scopes, ofArguments }) => ({
      field,
      message: `needs ${scopes.join(' or ')}${ofArguments ? ' for its arguments' : ''}`,
    }));
    const named = violations.map(({ field, message }) => `${field} ${message}`).join(', ');
    super('forbidden', `The access token lacks scopes: ${named}.`, violations);
    this.name = 'InsufficientScopeError';
    this.scopes = [...new Set(missing.flatMap(({ scopes: [first] }) => first ?? []))];
  }
}

/** Scopes of which a field or an endpoint needs one, by itself or for its arguments, and of which the token has none. */
interface MissingScopes {
  /** The coordinate of the field (`Query.node`), or the method and the path of the endpoint. */
  readonly field: string;
  readonly scopes: readonly Scope[];
  readonly ofArguments?: boolean;
}

/**
 * Refuses an operation before it runs if a field needs a scope that the principal does not have. The error names all such
 * fields. Fields that `@skip` and `@include` leave out do not count. Each fragment is read once.
 */
export function checkScopes(coerced: CoercedOperation, principal: Principal | undefined): void {
  const needs = needsOf(coerced);
  if (principal ? holdsAll(principal, needs, coerced.variables) : isPublic(needs)) return;
  const missing = missingScopes(coerced, principal);
  if (missing.length > 0) throw new InsufficientScopeError(missing);
}

/** The scopes that the fields lack, each once. Throws `unauthenticated`. */
export function missingScopes(
  coerced: CoercedOperation,
  principal: Principal | undefined,
): readonly MissingScopes[] {
  const missing = new Map<string, MissingScopes>();
  const require = (field: string, need: ScopeNeed, ofArguments: boolean) => {
    if (need !== 'public' && !principal)
      throw new AppError('unauthenticated', 'This needs an access token: Authorization: Bearer wg_…');
    if (!principal || holds(principal, need)) return;
    const scopes = scopesOf(need);
    const key = `${field} ${scopes.join(' ')}`;
    if (!missing.has(key)) missing.set(key, { field, scopes, ofArguments });
  };
  visitScopes(coerced, (coordinate, { scope, ofArguments }) => {
    if (scope !== undefined) require(coordinate, scope, false);
    if (!ofArguments || !principal) return;
    for (const need of ofArguments.needs(coerced.variables)) require(coordinate, need, true);
  });
  return [...missing.values()];
}

function holds({ scopes }: Principal, need: ScopeNeed): boolean {
  return need === 'public' || need === 'token' || scopesOf(need).some((scope) => scopes.has(scope));
}

/** The scopes of which one is enough. */
function scopesOf(need: ScopeNeed): readonly Scope[] {
  if (need === 'public' || need === 'token') return [];
  return typeof need === 'string' ? [need] : need;
}

/** The needs of an operation, each once, and those that depend on the variables. */
interface Needs {
  readonly fixed: readonly ScopeNeed[];
  readonly ofVariables: readonly NeedsOfArguments['needs'][];
}

function holdsAll(principal: Principal, { fixed, ofVariables }: Needs, variables: Variables): boolean {
  const has = (need: ScopeNeed) => holds(principal, need);
  return fixed.every(has) && ofVariables.every((needs) => needs(variables).every(has));
}

function isPublic({ fixed, ofVariables }: Needs): boolean {
  return ofVariables.length === 0 && fixed.every((need) => need === 'public');
}

const needsOf = perVariant((coerced: CoercedOperation): Needs => {
  const fixed = new Map<string, ScopeNeed>();
  const ofVariables: NeedsOfArguments['needs'][] = [];
  const note = (need: ScopeNeed) => fixed.set(String(need), need);
  visitScopes(coerced, (_coordinate, { scope, ofArguments }) => {
    if (scope !== undefined) note(scope);
    if (ofArguments?.vary) ofVariables.push(ofArguments.needs);
    else ofArguments?.needs({}).forEach(note);
  });
  return { fixed: [...fixed.values()], ofVariables };
});

type Variables = Record<string, unknown>;

/** The needs of a field that depend on its arguments, as of `node(id)`. */
interface NeedsOfArguments {
  readonly needs: (variables: Variables) => readonly ScopeNeed[];
  /** Whether the arguments contain variables. */
  readonly vary: boolean;
}

/** The needs of one field. */
interface FieldNeeds {
  readonly scope: ScopeNeed | undefined;
  readonly ofArguments: NeedsOfArguments | undefined;
}

/** Calls `report` with the needs and the coordinate (`Query.node`) of each field that is not left out. */
function visitScopes(
  operation: CoercedOperation,
  report: (coordinate: string, needs: FieldNeeds) => void,
): void {
  visitFields(operation, ({ field, node, parent }) => {
    const { scope, scopeOfArguments } = extensionsOf(field);
    const read = scopeOfArguments && argumentReader(field, node);
    const ofArguments = read && {
      needs: (variables: Variables) => scopeOfArguments(read(variables)),
      vary: usesVariables([node]),
    };
    report(`${parent.name}.${node.name.value}`, { scope, ofArguments });
  });
}
