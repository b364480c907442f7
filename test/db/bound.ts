import {
  CamelCasePlugin,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type { Compilable } from 'kysely';
import { TenantPlugin } from '../../src/db/guard/tenant-plugin.ts';
import '../support/tenant-prover/install.ts';
import type { AnyTables } from '../../src/db/query/any-tables.ts';
import type { ValueOrSlot } from '../../src/db/statements/slots.ts';

export const ws = '018f0000-0000-7000-8000-000000000001';

/** A handle of one workspace that only compiles. The prover checks each statement after the plugin. */
export function boundTo(workspace: ValueOrSlot<string>): Kysely<AnyTables> {
  return new Kysely<AnyTables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (inner) => new PostgresIntrospector(inner),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true }), new TenantPlugin(workspace)],
  });
}

export const db = boundTo(ws);

/** The SQL of a statement, without unnecessary quotes. */
export function sqlOf(statement: Pick<Compilable, 'compile'>): string {
  return statement.compile().sql.replaceAll(/"(\w+)"/g, '$1');
}
