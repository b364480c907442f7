import {
  CamelCasePlugin,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type { Compilable, KyselyPlugin } from 'kysely';
import type { AnyTables } from '../../src/db/query/any-tables.ts';
import type { Tables } from '../../src/db/tables/tables.ts';
import { unboundIn } from '../support/tenant-prover/bound-rule.ts';

class UnboundError extends Error {
  readonly table: string;

  constructor(table: string, message: string) {
    super(message);
    this.table = table;
  }
}

/** Refuses statements that are not bound to one workspace. It adds no conditions, so that tests write them. */
const prover: KyselyPlugin = {
  transformQuery: ({ node }) => {
    for (const { table, message } of unboundIn(node)) throw new UnboundError(table, message);
    return node;
  },
  transformResult: ({ result }) => Promise.resolve(result),
};

/** A database that only compiles the statements that the prover accepts. */
export const proved = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (inner) => new PostgresIntrospector(inner),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
  plugins: [prover, new CamelCasePlugin({ maintainNestedObjectKeys: true })],
});

/** The same database with untyped table names. */
export const loose = proved as unknown as Kysely<AnyTables>;

export const ws = '018f0000-0000-7000-8000-000000000001';

export type Statement = () => Pick<Compilable, 'compile'>;

/** The table that the prover names when it refuses a statement; undefined if it accepts the statement. */
export function refusedTable(statement: Statement): string | undefined {
  try {
    statement().compile();
    return undefined;
  } catch (error) {
    if (error instanceof UnboundError) return error.table;
    throw error;
  }
}
