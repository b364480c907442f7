import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Note, Trial } from './copy.ts';
import type { Mutant, GuardEvent } from './find.ts';
import type { Reach } from './reach.ts';

/** The test files that may fail without a guard, in the order in which they are run. */
export function candidatesFor(mutant: Mutant, reach: ReadonlyMap<string, Reach>): Trial[] {
  const files = [...reach].filter(([, { fails }]) => !fails);
  const likely = testsFor(mutant);
  // A scope or a limit is evaluated when its module loads, so it means nothing that a test reaches it.
  if (mutant.kind === 'scope')
    return likely.filter((file) => files.some(([known]) => known === file)).map((file) => ({ file }));
  if (mutant.kind === 'limit') {
    const related = files.filter(
      ([file]) => likely.some((start) => file.startsWith(start)) || sharedWords(file, mutant.file) > 0,
    );
    const costOf = ([file, { ms }]: [string, Reach]) =>
      (ms * distance(file, mutant)) / 10 ** sharedWords(file, mutant.file);
    return related.toSorted((one, other) => costOf(one) - costOf(other)).map(([file]) => ({ file }));
  }
  const noted = (how: GuardEvent) =>
    files
      .flatMap(([file, { notes }]) => {
        const note = notes[mutant.guard]?.find((each) => each.how === how);
        return note ? [{ file, note }] : [];
      })
      .toSorted((one, other) => costOf(mutant, one) - costOf(mutant, other))
      // A statement is built once and later tests use it as well, so the run must not end early.
      .map(
        ({ file, note: { last } }): Trial => ({ file, ...(last && mutant.kind !== 'tenant' && { last }) }),
      );
  const refused = noted('refused');
  const reached = noted('reached').filter(({ file }) => !refused.some((each) => each.file === file));
  return [...refused, ...reached];
}

/** The time until the first test reaches the guard, with a penalty for files that are not about it and may not check. */
function costOf(
  { kind, file: source }: Mutant,
  { file, note }: { file: string; note: Omit<Note, 'mutant'> },
): number {
  const isAbout = testsFor({ kind, file: source }).some((start) => file.startsWith(start));
  return (note.ms * (isAbout ? 1 : 3)) / 10 ** sharedWords(file, source);
}

/** The number of equal words at the beginning of the names of a test and a source file. */
function sharedWords(test: string, source: string): number {
  const [words, others] = [test, source].map((file) =>
    basename(file)
      .replaceAll(/s(?=[-.])/g, '')
      .split(/[-.]/),
  );
  const differing = words?.findIndex((word, index) => word !== others?.[index]) ?? 0;
  return Math.max(0, differing);
}

/** The distance of a test from a limit: small if it contains the name, larger if it contains the number or the next one. */
function distance(file: string, { guard }: Mutant): number {
  const [, name = '', digits = ''] = /(\w+)(?: = |: )([\d_]+)/.exec(guard) ?? [];
  const number = Number(digits.replaceAll('_', ''));
  const numbers = [number, number + 1].map((each) => each.toLocaleString('en').replaceAll(',', '[_,]?'));
  // Small numbers and names of one word occur everywhere, so small numbers count only after words such as "most" or "length:".
  const pattern = `(${number < 100 ? '(most|to|than|of|length:|repeat\\(|Array\\() ?' : '\\b'})(${numbers.join('|')})\\b`;
  const text = readFileSync(file, 'utf8');
  if (/[a-z][A-Z]/.test(name) && text.includes(name)) return 1;
  return new RegExp(pattern).test(text) ? 3 : 1_000;
}

/** The tests that should fail without a guard, the most specific first. */
function testsFor({ kind, file }: Pick<Mutant, 'kind' | 'file'>): readonly string[] {
  if (kind === 'scope') {
    if (file.includes('/routes/')) return restScopes;
    return file.endsWith('/events.ts') ? ['test/live/readable-changes.test.ts'] : graphScopes;
  }
  const found = byFolder.find(([folder]) => file.startsWith(folder));
  return found?.[1] ?? ['test/resources', 'test/rest', 'test/server'];
}

// If the tests take a scope from the schema, only the comparison with schema.graphql fails.
const graphScopes = [
  'test/graph/scopes.test.ts',
  'test/security/scope-matrix.test.ts',
  'test/contract/generated.test.ts',
];
const restScopes = ['test/security/scope-matrix.test.ts', 'test/rest/specification.test.ts'];

const byFolder: readonly (readonly [folder: string, tests: readonly string[]])[] = [
  ['src/executor/compiled/', ['test/graph']],
  [
    'src/executor/',
    [
      'test/server/document-limits.test.ts',
      'test/server/body-limits.test.ts',
      'test/graph/cost.test.ts',
      'test/inputs/edges.test.ts',
      'test/server',
    ],
  ],
  ['src/server/files', ['test/attachments']],
  ['src/server/limits/rate', ['test/server/rate.test.ts', 'test/server/rate-redis.test.ts']],
  ['src/server/', ['test/server', 'test/attachments']],
  ['src/db/guard/', ['test/db']],
  ['src/storage/', ['test/attachments']],
  ['src/db/attachments', ['test/attachments']],
  ['src/db/writes/import', ['test/cli/import-beads.test.ts', 'test/cli/import-faults.test.ts']],
  ['src/db/reads/export', ['test/cli/export.test.ts']],
  ['src/db/writes/directory', ['test/cli/directory.test.ts', 'test/cli/directory-violations.test.ts']],
  ['src/db/directory', ['test/cli/directory.test.ts', 'test/cli/directory-violations.test.ts']],
  ['src/db/housekeeping', ['test/attachments/janitor.test.ts', 'test/resources/idempotency.test.ts']],
  ['src/db/', ['test/security/isolation-writes.test.ts', 'test/resources', 'test/graph']],
  ['src/portability/directory/', ['test/cli/directory-violations.test.ts', 'test/cli/directory.test.ts']],
  ['src/portability/import/', ['test/cli/import-faults.test.ts', 'test/cli/import-beads.test.ts']],
  ['src/portability/export/', ['test/cli/export.test.ts']],
  ['src/resolvers/attachments/', ['test/attachments']],
  ['src/resolvers/webhooks/', ['test/webhooks']],
  ['src/resolvers/changes', ['test/live']],
  ['src/live/webhooks/', ['test/webhooks']],
  ['src/live/', ['test/live', 'test/webhooks']],
  ['src/resolvers/access/', ['test/server/access-tokens.test.ts', 'test/cli/token.test.ts']],
  ['src/resolvers/workspaces', ['test/cli/token.test.ts']],
  ['src/resolvers/keys', ['test/graph/nodes', 'test/rest/issue', 'test/inputs/edges']],
  ['src/resolvers/errors', ['test/server/graphql-refusals.test.ts', 'test/rest', 'test/inputs/edges']],
  [
    'src/resolvers/filters',
    ['test/resources/issues-read', 'test/server/document-limits', 'test/graph', 'test/inputs/edges'],
  ],
  [
    'src/resolvers/writes/write-rules',
    ['test/rest', 'test/resources', 'test/inputs/edges', 'test/cli/directory', 'test/contract/generated'],
  ],
  [
    'src/model/',
    ['test/rest', 'test/resources', 'test/inputs/edges', 'test/cli/directory', 'test/contract/generated'],
  ],
  ['src/portability/', ['test/cli']],
  ['src/resolvers/', ['test/resources', 'test/graph']],
  // For declarations that only affect openapi.json, only the comparison with that file fails.
  ['src/rest-compat/', ['test/rest', 'test/contract/generated']],
  ['src/reference/', ['test/reference', 'test/server']],
  ['src/schema/', ['test/graph', 'test/resources']],
  ['src/cli/', ['test/cli']],
];
