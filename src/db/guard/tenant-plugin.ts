import type {
  KyselyPlugin,
  PluginTransformQueryArgs,
  PluginTransformResultArgs,
  RootOperationNode,
} from 'kysely';
import type { ValueOrSlot } from '../statements/slots.ts';
import { TenantAdder } from './tenant-adder.ts';

/**
 * Binds every statement of a handle to one workspace: adds `workspace_id = <workspace>` to each reference to a tenant
 * table, and the column to each insert. A statement that it cannot read is refused with a TenantError.
 *
 * It must come after CamelCasePlugin, because it reads and writes names in snake_case. Correlated subqueries must be
 * built with an expression builder (`eb.selectFrom`): Kysely first transforms a subquery of `db.selectFrom` alone, and
 * then the CTEs of the surrounding statement are unknown names.
 */
export class TenantPlugin implements KyselyPlugin {
  readonly workspace: ValueOrSlot<string>;
  readonly #adder: TenantAdder;

  constructor(workspace: ValueOrSlot<string>) {
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
