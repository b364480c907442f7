import { limits } from '../model/limits.ts';
import type { AnyRow } from '../db/query/any-tables.ts';
import { always, type Predicate } from '../db/query/conditions/predicate.ts';
import type { TableName } from '../db/tables/tables.ts';
import { reachableTokens } from './access/access-tokens.ts';
import { mayReadAudit } from './access/audit.ts';
import { type Context, type SignedIn, signedIn } from './context.ts';
import { raise, Violations } from './errors.ts';
import { type IdPrefix, parseId } from './ids.ts';
import { mayManageWebhooks } from './webhooks/webhooks.ts';

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
  const signed = signedIn(ctx);
  if (ids.length > maxNodes) raise('invalid_request', `At most ${maxNodes} ids may be requested at once.`);
  const violations = new Violations();
  const parsed = ids.map(
    (id) => parseId(id) ?? violations.add(argument, 'expected an id, got something that is not an id'),
  );
  violations.check('invalid_request');
  return Promise.all(
    parsed.map(async (id) => {
      const kind = id && kinds.get(id.prefix);
      if (!id || !kind) return null;
      const readable = readers[id.prefix]?.(signed);
      const where = readable ? { all: [kind.where, readable] } : kind.where;
      const row = await signed.loaders.byKey(kind.table, 'id', where).load(id.uuid);
      return row ? { ...row, __typename: kind.typeName } : null;
    }),
  );
}

const never: Predicate = { any: [] };

/** The rows that the caller may read by id, for types for which the scope alone does not decide that. */
const readers: Partial<Record<IdPrefix, (signed: SignedIn) => Predicate>> = {
  token: ({ principal }) => reachableTokens(principal),
  audit: (signed) => (mayReadAudit(signed) ? always : never),
  webhook: (signed) => (mayManageWebhooks(signed) ? always : never),
  whdelivery: (signed) => (mayManageWebhooks(signed) ? always : never),
};

/** Whether a rule in addition to the scope decides which rows of this type the caller may read. */
export function hasReaders(prefix: IdPrefix): boolean {
  return readers[prefix] !== undefined;
}
