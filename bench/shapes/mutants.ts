import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repository } from '../repository.ts';

// Breaks the rule that bounds pages, once in each way below, in a copy of the source, and expects the check to find it.

interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly replaced: string;
  readonly by: string;
  /** Filters that show it. */
  readonly shape: string;
}

const mutants: readonly Mutant[] = [
  {
    name: 'the budget is gone',
    file: 'src/db/query/walks/examined-rows.ts',
    replaced: '      .limit(sql.lit(rows)),\n  );',
    by: '      .limit(sql.lit(10_000_000)),\n  );',
    shape: 'issues labels some',
  },
  {
    name: 'deleted issues are examined',
    file: 'src/db/query/walks/examined-rows.ts',
    replaced: '.where(predicateSql(source.where, row));\n  const [first, second]',
    by: ';\n  const [first, second]',
    shape: 'issues labels some',
  },
  {
    name: 'rows without a value are an alternative, and not a stretch of their own',
    file: 'src/db/query/walks/walk.ts',
    replaced: 'rangesBeyond(order, start, !backward).map((range) => [range, ...beforeEnd])',
    by: '[[sql<SqlBool>`(${sql.join(rangesBeyond(order, start, !backward), sql` or `)})`, ...beforeEnd]]',
    shape: 'issues no filter',
  },
  {
    name: 'the planner may read all related rows',
    file: 'src/db/query/conditions/predicate.ts',
    replaced: 'exists (${referencedRows.offset(sql.lit(0))})',
    by: 'exists (${referencedRows})',
    shape: 'issues parent any',
  },
  {
    name: 'any number of matches is few',
    file: 'src/db/query/read-bounds.ts',
    replaced:
      'few: Math.ceil(rows * 0.35),\n    walk: Math.max(firstWalk, rows - firstWalk),\n    maxRows: rows,',
    by: 'few: 10_000_000,\n    walk: Math.max(firstWalk, rows - firstWalk),\n    maxRows: 10_000_000,',
    shape: 'issues createdUtc gt at',
  },
];

/** Tries the mutants on a database that the check has filled. Returns the number of those that the check did not find. */
export function tryMutants(database: string, say: (line: string) => void): number {
  let missed = 0;
  for (const mutant of mutants) {
    const found = firstProblemOf(mutant, database);
    if (found === undefined) missed += 1;
    say(`${mutant.name}: ${found === undefined ? 'NOT FOUND' : `found, ${found}`}`);
  }
  return missed;
}

/** The first problem that the check finds with a mutant; undefined if it finds none. */
function firstProblemOf({ file, replaced, by, shape }: Mutant, database: string): string | undefined {
  const copy = mkdtempSync(join(tmpdir(), 'workgraph-mutant-'));
  try {
    for (const part of ['src', 'migrations', 'bin', 'package.json', 'tsconfig.json'])
      cpSync(join(repository, part), join(copy, part), { recursive: true });
    cpSync(join(repository, 'bench'), join(copy, 'bench'), {
      recursive: true,
      filter: (path) => !/bench\/(?:node_modules|\.cluster|\.shapes)/.test(path),
    });
    symlinkSync(join(repository, 'node_modules'), join(copy, 'node_modules'));
    const source = readFileSync(join(copy, file), 'utf8');
    if (!source.includes(replaced)) throw new Error(`${file} has changed: say again how to break it.`);
    writeFileSync(join(copy, file), source.replace(replaced, by));
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [join(copy, 'bench/shapes/check.ts'), '--database', database, '--shape', shape, '--one-of', '4'],
      { encoding: 'utf8', cwd: copy },
    );
    const lines = stdout.split('\n');
    if (!lines.some((line) => line.startsWith('with problems: ')))
      throw new Error(`The check ended early: ${stderr}`);
    return lines.find((line) => / [A-Z_]+ (?:ASC|DESC), .+: /.test(line));
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
