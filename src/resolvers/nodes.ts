import type { AnyRow } from '../db/query/any-tables.ts';
import type { Predicate } from '../db/query/predicate.ts';
import type { TableName } from '../db/tables/tables.ts';
import { mayReadAudit } from './audit.ts';
import { memberRole } from '../model/codes.ts';
import { type Context, type SignedIn, signedIn } from './context.ts';
import { raise, Violations } from './errors.ts';
import { type IdPrefix, parseId } from './ids.ts';

/** Where the rows of a kind of id are, and the name of the type that they are shown as. */
export interface NodeKind {
  typeName: string;
  table: TableName;
  where: Predicate;
}

export const maxNodes = 250;

/** The things behind global ids, in their order; null for what is not there (contract.md, "One identity"). */
export async function findNodes(
  ctx: Context,
  kinds: ReadonlyMap<IdPrefix, NodeKind>,
  ids: readonly string[],
  argument: 'id' | 'ids',
): Promise<(AnyRow | null)[]> {
  const signed = signedIn(ctx);
  if (ids.length > maxNodes) raise('invalid_request', `At most ${maxNodes} ids can be asked for at once.`);
  const violations = new Violations();
  const parsed = ids.map(
    (id) => parseId(id) ?? violations.add(argument, 'expected an id, got something that is no id'),
  );
  violations.check('invalid_request');
  return Promise.all(
    parsed.map(async (id) => {
      const kind = id && kinds.get(id.prefix);
      if (!id || !kind) return null;
      const row = await signed.loaders.byKey(kind.table, 'id', kind.where).load(id.uuid);
      if (!row || !(mayRead[id.prefix]?.(signed, row) ?? true)) return null;
      return { ...row, __typename: kind.typeName };
    }),
  );
}

/** Who may read a thing by its id, where that is more than its scope says. */
const mayRead: Partial<Record<IdPrefix, (signed: SignedIn, row: AnyRow) => boolean>> = {
  token: mayReadToken,
  audit: mayReadAudit,
};

/** Is there a rule about who may read such things, beside their scope. */
export function hasReaders(prefix: IdPrefix): boolean {
  return mayRead[prefix] !== undefined;
}

/** A token is shown to the member it stands for and to whoever administers the workspace. */
function mayReadToken({ principal }: SignedIn, token: AnyRow): boolean {
  return token.userAccountId === principal.userAccountId || principal.scopes.has('workspace:admin');
}

/** Owners and admins see and make the tokens of all; others their own. */
export function seesAllTokens({ principal }: SignedIn): boolean {
  return principal.role <= memberRole.admin;
}
