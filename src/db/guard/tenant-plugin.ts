import type {
  KyselyPlugin,
  PluginTransformQueryArgs,
  PluginTransformResultArgs,
  RootOperationNode,
} from 'kysely';
import type { Given } from '../query/slots.ts';
import { TenantAdder } from './tenant-adder.ts';

/**
 * Binds every statement of a handle to one workspace: adds `workspace_id = <workspace>` to each reference to a tenant
 * table, and the column to each insert. Refuses with a TenantError what it cannot read.
 *
 * It must come after CamelCasePlugin: it reads and writes names in snake_case. Build correlated subqueries with an
 * expression builder (`eb.selectFrom`). Kysely sends a subquery made with `db.selectFrom` through the plugins alone
 * first, where the CTEs of the surrounding statement are unknown names.
 */
export class TenantPlugin implements KyselyPlugin {
  readonly workspace: Given<string>;
  readonly #adder: TenantAdder;

  constructor(workspace: Given<string>) {
    this.workspace = workspace;
    this.#adder = new TenantAdder(workspace);
  }

  transformQuery({ node }: PluginTransformQueryArgs): RootOperationNode {
    return this.#adder.addTo(node);
  }

  transformResult({ result }: PluginTransformResultArgs): Promise<PluginTransformResultArgs['result']> {
    return Promise.resolve(result);
  }
}
