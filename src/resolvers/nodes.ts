import { limits } from '../model/limits.ts';
import type { AnyRow } from '../db/query/any-tables.ts';
import type { Predicate } from '../db/query/conditions/predicate.ts';
import type { TableName } from '../db/tables/tables.ts';
import { reachableTokens } from './access/access-tokens.ts';
import { type Context, type Principal, requireSignedIn } from './context.ts';
import { raise, Violations } from './errors.ts';
import { type IdPrefix, parseId } from './ids.ts';

/** The table and the GraphQL type of ids with a prefix. */
export interface NodeKind {
  typeName: string;
  table: TableName;
  where: Predicate;
}

export const maxNodes = limits.names;

/**
 * The rows with these global ids, in their order; null for each id without a row (docs/contract.md, "One identity").
 */
export async function findNodes(
  ctx: Context,
  kinds: ReadonlyMap<IdPrefix, NodeKind>,
  ids: readonly string[],
  argument: 'id' | 'ids',
): Promise<(AnyRow | null)[]> {
  const context = requireSignedIn(ctx);
  if (ids.length > maxNodes) raise('invalid_request', `At most ${maxNodes} ids may be requested at once.`);
  const violations = new Violations();
  const parsed = ids.map(
    (id) => parseId(id) ?? violations.add(argument, 'expected an id, got something that is not an id'),
  );
  violations.throwIfAny('invalid_request');
  return Promise.all(
    parsed.map(async (id) => {
      const kind = id && kinds.get(id.prefix);
      if (!id || !kind) return null;
      const readable = rowRules[id.prefix]?.(context.principal);
      const where = readable ? { all: [kind.where, readable] } : kind.where;
      const row = await context.loaders.byKey(kind.table, 'id', where).load(id.uuid);
      return row ? { ...row, __typename: kind.typeName } : null;
    }),
  );
}

/** The rows that the caller may read by id, for types of which a caller may read some rows and not others. */
const rowRules: Partial<Record<IdPrefix, (principal: Principal) => Predicate>> = { token: reachableTokens };

/** Whether the caller may read some rows of this type and not others. */
export function hasRowRule(prefix: IdPrefix): boolean {
  return rowRules[prefix] !== undefined;
}
