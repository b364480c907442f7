import type { Mutant } from './find.ts';

/** The tests that should fail without a guard, those that are most about it first. */
export function testsFor({ kind, file }: Pick<Mutant, 'kind' | 'file'>): readonly string[] {
  if (kind === 'scope') return file.includes('/routes/') ? restScopes : graphScopes;
  const found = byFolder.find(([folder]) => file.startsWith(folder));
  const own = ownTests(file);
  return [...new Set([...own, ...(found?.[1] ?? ['test/resources', 'test/rest', 'test/server'])])];
}

const graphScopes = ['test/security/scope-matrix.test.ts', 'test/graph/scopes.test.ts'];
const restScopes = ['test/security/scope-matrix.test.ts', 'test/rest/specification.test.ts'];

const byFolder: readonly (readonly [folder: string, tests: readonly string[]])[] = [
  ['src/executor/compiled/', ['test/graph']],
  [
    'src/executor/',
    [
      'test/server/limits.test.ts',
      'test/server/hostile-documents.test.ts',
      'test/graph/cost.test.ts',
      'test/server',
    ],
  ],
  ['src/server/files', ['test/attachments']],
  ['src/server/rate', ['test/server/rate.test.ts', 'test/server/rate-redis.test.ts']],
  ['src/server/', ['test/server', 'test/attachments']],
  ['src/db/tenant', ['test/db']],
  ['src/db/storage', ['test/attachments']],
  ['src/db/import', ['test/cli/import-beads.test.ts', 'test/cli/import-faults.test.ts']],
  ['src/db/export', ['test/cli/export.test.ts']],
  ['src/db/directory', ['test/cli/directory.test.ts', 'test/cli/directory-violations.test.ts']],
  ['src/db/housekeeping', ['test/attachments/janitor.test.ts', 'test/resources/idempotency.test.ts']],
  ['src/db/', ['test/security/isolation-writes.test.ts', 'test/resources', 'test/graph']],
  ['src/resolvers/directory', ['test/cli/directory-violations.test.ts', 'test/cli/directory.test.ts']],
  ['src/resolvers/import', ['test/cli/import-faults.test.ts', 'test/cli/import-beads.test.ts']],
  ['src/resolvers/export', ['test/cli/export.test.ts']],
  ['src/resolvers/attachment', ['test/attachments']],
  ['src/resolvers/access-tokens', ['test/server/access-tokens.test.ts', 'test/cli/token.test.ts']],
  ['src/resolvers/filters', ['test/graph']],
  ['src/resolvers/', ['test/resources', 'test/graph']],
  ['src/rest-compat/', ['test/rest']],
  ['src/schema/', ['test/graph', 'test/resources']],
  ['src/cli/', ['test/cli']],
];

/** Tests of writes are named after what they write. */
const words = ['comment', 'link', 'agent', 'idempotency', 'issue-stats', 'access-token'] as const;

function ownTests(file: string): string[] {
  const word = words.find((each) => file.includes(each));
  return word ? [`test/resources/${word}`] : [];
}
