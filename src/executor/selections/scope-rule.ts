import { OperationTypeNode } from 'graphql';
import type { Principal, Scope } from '../../resolvers/context.ts';
import { isManager } from '../../resolvers/access/managers.ts';
import { AppError } from '../../resolvers/errors.ts';
import { type ManagersOnly, managersOnlyOf } from '../../schema/builder/managers-only.ts';
import { extensionsOf } from '../../schema/builder/output-extensions.ts';
import type { Need, ScopeNeed } from '../../schema/builder/scopes.ts';
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
 * Refuses an operation before it runs if a field needs a scope that the principal does not have, or the role of a manager. The
 * error names all fields that lack scopes. Fields that `@skip` and `@include` leave out do not count. Each fragment is read once.
 */
export function checkScopes(coerced: CoercedOperation, principal: Principal | undefined): void {
  const needs = needsOf(coerced);
  if (principal ? holdsAll(principal, needs, coerced.variables) : isPublic(needs)) return;
  const missing = missingScopes(coerced, principal);
  if (missing.length > 0) throw new InsufficientScopeError(missing);
  const [refused] = allOf(needs, coerced.variables).filter(isManagersOnly);
  if (!refused) return;
  // A mutation that shows what only managers may read is for them alone.
  const does = coerced.operation.operation === OperationTypeNode.MUTATION ? 'manage' : 'read';
  throw new AppError('forbidden', `Only owners and admins may ${does} ${refused.managersOnly}.`);
}

/** The message for a request without a token, which says how to send one. */
export const howToAuthenticate = 'This needs an access token: Authorization: Bearer wg_…';

/** The scopes that the fields lack, each once. Throws `unauthenticated`. */
export function missingScopes(
  coerced: CoercedOperation,
  principal: Principal | undefined,
): readonly MissingScopes[] {
  const missing = new Map<string, MissingScopes>();
  const require = (field: string, need: Need, ofArguments: boolean) => {
    if (need !== 'public' && !principal) throw new AppError('unauthenticated', howToAuthenticate);
    if (!principal || isManagersOnly(need) || holds(principal, need)) return;
    const scopes = scopesOf(need);
    const key = `${field} ${scopes.join(' ')}`;
    if (!missing.has(key)) missing.set(key, { field, scopes, ofArguments });
  };
  visitNeeds(coerced, (coordinate, { own, ofArguments }) => {
    for (const need of own) require(coordinate, need, false);
    if (!ofArguments || !principal) return;
    for (const need of ofArguments.needs(coerced.variables)) require(coordinate, need, true);
  });
  return [...missing.values()];
}

function holds(principal: Principal, need: Need): boolean {
  if (isManagersOnly(need)) return isManager(principal);
  return need === 'public' || need === 'token' || scopesOf(need).some((scope) => principal.scopes.has(scope));
}

function isManagersOnly(need: Need): need is ManagersOnly {
  return typeof need === 'object' && 'managersOnly' in need;
}

/** The scopes of which one is enough. */
function scopesOf(need: ScopeNeed): readonly Scope[] {
  if (need === 'public' || need === 'token') return [];
  return typeof need === 'string' ? [need] : need;
}

/** The needs of an operation, each once, and those that depend on the variables. */
interface Needs {
  readonly fixed: readonly Need[];
  readonly ofVariables: readonly NeedsOfArguments['needs'][];
}

function allOf({ fixed, ofVariables }: Needs, variables: Variables): Need[] {
  return [...fixed, ...ofVariables.flatMap((needs) => needs(variables))];
}

function holdsAll(principal: Principal, { fixed, ofVariables }: Needs, variables: Variables): boolean {
  const has = (need: Need) => holds(principal, need);
  return fixed.every(has) && ofVariables.every((needs) => needs(variables).every(has));
}

function isPublic({ fixed, ofVariables }: Needs): boolean {
  return ofVariables.length === 0 && fixed.every((need) => need === 'public');
}

const needsOf = perVariant((coerced: CoercedOperation): Needs => {
  const fixed = new Map<string, Need>();
  const ofVariables: NeedsOfArguments['needs'][] = [];
  const note = (need: Need) => fixed.set(JSON.stringify(need), need);
  visitNeeds(coerced, (_coordinate, { own, ofArguments }) => {
    own.forEach(note);
    if (ofArguments?.vary) ofVariables.push(ofArguments.needs);
    else ofArguments?.needs({}).forEach(note);
  });
  return { fixed: [...fixed.values()], ofVariables };
});

type Variables = Record<string, unknown>;

/** The needs of a field that depend on its arguments, as of `node(id)`. */
interface NeedsOfArguments {
  readonly needs: (variables: Variables) => readonly Need[];
  /** Whether the arguments contain variables. */
  readonly vary: boolean;
}

/** The needs of one field. */
interface FieldNeeds {
  readonly own: readonly Need[];
  readonly ofArguments: NeedsOfArguments | undefined;
}

/** Calls `report` with the needs and the coordinate (`Query.node`) of each field that is not left out. */
function visitNeeds(
  operation: CoercedOperation,
  report: (coordinate: string, needs: FieldNeeds) => void,
): void {
  visitFields(operation, ({ field, node, parent }) => {
    const { scope, needsOfArguments } = extensionsOf(field);
    const own = [scope, managersOnlyOf(field, parent)].filter((need) => need !== undefined);
    const read = needsOfArguments && argumentReader(field, node);
    const ofArguments = read && {
      needs: (variables: Variables) => needsOfArguments(read(variables)),
      vary: usesVariables([node]),
    };
    report(`${parent.name}.${node.name.value}`, { own, ofArguments });
  });
}
