import {
  CamelCasePlugin,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type { Compilable } from 'kysely';
import { untyped } from '../../src/db/query/any-tables.ts';
import type { Tables } from '../../src/db/tables/tables.ts';
import { TenantGuardError, TenantGuardPlugin } from '../../src/db/tenant-guard.ts';

/** A guarded database that compiles and never runs. */
export const guarded = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (inner) => new PostgresIntrospector(inner),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
  plugins: [new TenantGuardPlugin(), new CamelCasePlugin({ maintainNestedObjectKeys: true })],
});

/** The same with table names as strings, as the generic code of src/db uses it. */
export const loose = untyped(guarded);

export const ws = '018f0000-0000-7000-8000-000000000001';

export type Statement = () => Pick<Compilable, 'compile'>;

/** The table that the guard names in refusing the statement; undefined when it compiles. */
export function refusedTable(statement: Statement): string | undefined {
  try {
    statement().compile();
    return undefined;
  } catch (error) {
    if (error instanceof TenantGuardError) return error.table;
    throw error;
  }
}
