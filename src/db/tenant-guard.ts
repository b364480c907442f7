import type {
  KyselyPlugin,
  PluginTransformQueryArgs,
  PluginTransformResultArgs,
  RootOperationNode,
} from 'kysely';
import { settle } from '../../test/support/tenant-prover/binding-graph.ts';
import { fold } from './guard/identifiers.ts';
import { readStatement } from '../../test/support/tenant-prover/statement-reader.ts';

/** The tables without a workspace, each with its reason; every other name is a tenant's table. */
export const globalTables = {
  userAccount: 'a person is the same in every workspace that has him as a member',
  migration: 'the ledger of migrations is about the database, not about its tenants',
} as const;

/** A statement that could read or write the rows of more than one workspace; it was not run. */
export class TenantGuardError extends Error {
  override readonly name = 'TenantGuardError';
  readonly table: string;

  constructor(table: string, message: string) {
    super(message);
    this.table = table;
  }
}

/**
 * Refuses to compile a statement unless each reference to a tenant's table is bound to one workspace.
 *
 * A reference is bound by a condition that is and-ed at the top of the `where`, or of an `on` that filters
 * it: `workspaceId = <value>`, or `workspaceId = workspaceId` of a reference that is bound, be it of this
 * query, of one round it, or of a sub-query or CTE that gives out a bound workspaceId. An insert has
 * workspaceId among its columns, a value or a bound reference in each row. What `or`, `not` or an outer join
 * may leave unfiltered binds nothing, raw SQL binds nothing and names no tenant's table.
 *
 * Put it before CamelCasePlugin. Make correlated sub-queries with the expression builder (`eb.selectFrom`):
 * Kysely shows those of `db.selectFrom` to its plugins alone, without the query round them.
 */
export class TenantGuardPlugin implements KyselyPlugin {
  transformQuery(args: PluginTransformQueryArgs): RootOperationNode {
    const { given, demands } = readStatement(args.node, GLOBAL);
    settle(given);
    for (const demand of demands) {
      if (!demand.fact.known) throw new TenantGuardError(demand.table, demand.remedy());
    }
    return args.node;
  }

  transformResult(args: PluginTransformResultArgs): Promise<PluginTransformResultArgs['result']> {
    return Promise.resolve(args.result);
  }
}

const GLOBAL: ReadonlySet<string> = new Set(Object.keys(globalTables).map(fold));
