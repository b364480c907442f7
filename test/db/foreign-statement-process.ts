import { DummyDriver, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { tenantHandle, unscopedHandle } from '../../src/db/engine/tenant-handle.ts';

// Has Kysely compile a statement of the handle of one workspace that contains another workspace, and prints its SQL.
const unscoped = unscopedHandle({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (inner) => new PostgresIntrospector(inner),
  createQueryCompiler: () => new PostgresQueryCompiler(),
});
const statement = tenantHandle(unscoped, '018f0000-0000-7000-8000-000000000001')
  .selectFrom('team as t')
  .innerJoin('issue as i', (join) => join.on('i.workspaceId', '=', '018f0000-0000-7000-8000-000000000002'))
  .select('t.id');
process.stdout.write(statement.compile().sql);
