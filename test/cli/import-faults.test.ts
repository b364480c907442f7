import { appendFileSync, statSync, truncateSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { runImport } from '../../src/cli/import.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { bead, childOf, exported, useImportWorld } from './import-world.ts';

const suite = useImportWorld();

const issues = async () => (await exported(suite.world, suite.name)).slice(1);
const byTitle = async (title: string) => (await issues()).find((issue) => issue.title === title);

it('an import breaks cycles of parents, including an issue that is its own parent', async () => {
  const file = suite.world.write('a.jsonl', [
    bead('a', childOf('a', 'b')),
    bead('b', childOf('b', 'c')),
    bead('c', childOf('c', 'a')),
    bead('d', childOf('d', 'd')),
  ]);
  const { exitCode, summary, stderr } = await suite.world.beads(file);
  expect([exitCode, summary.parents, summary.created]).toEqual([0, 2, 4]);
  expect(stderr).toMatch(/line 3: it is left without its parent a: that would close a circle/);
  expect(stderr).toMatch(/line 4: it is left without its parent d: that would close a circle/);
  expect(await brokenInvariants(suite.database)).toEqual({});
});

it('an import refuses invalid lines with their number and the reason, and continues', async () => {
  const file = suite.world.write('a.jsonl', [
    '\uFEFF' + JSON.stringify(bead('a')),
    '',
    '{"id": "b", ',
    '[1]',
    '{"_type":"riddle","key":"k","value":"v"}',
    bead('c', { title: ' ' }),
    bead('a', { title: 'again' }),
    { title: 'no id' },
    JSON.stringify(bead('d')) + '\r',
    `{"id":"deep","title":"t","x":${'['.repeat(5000)}${']'.repeat(5000)}}`,
    bead('x'.repeat(256)),
    bead('e', { title: 5 }),
    bead('f'),
  ]);
  const { exitCode, summary, stderr } = await suite.world.beads(file);
  expect(exitCode).toBe(1);
  expect(summary).toMatchObject({ created: 3, refused: 9 });
  expect(stderr.split('\n').filter((line) => line.includes('refused:'))).toEqual([
    'line 3 refused: it is not JSON',
    "line 4 refused: it is an array, not an object; `jq -c '.[]'` splits an array into lines",
    'line 5 refused: its type is "riddle", not issue',
    'line 6 refused: it has no title',
    'line 7 refused: its id a is already used in line 1',
    'line 8 refused: it has no id',
    'line 10 refused: its values are nested too deep',
    'line 11 refused: its id is not a text of 1 to 255 characters',
    'line 12 refused: it has no title',
  ]);
});

it('an import accepts empty and truncated files, and lines of any length', async () => {
  expect(await suite.world.beads(suite.world.write('empty.jsonl', []))).toMatchObject({
    exitCode: 0,
    summary: { issues: 0 },
  });
  const cut = suite.world.write('cut.jsonl', [bead('a'), JSON.stringify(bead('b'))]);
  truncateSync(cut, statSync(cut).size - 10);
  const result = await suite.world.beads(cut);
  expect(result.summary).toMatchObject({ created: 1, refused: 1 });
  expect(result.stderr).toContain('line 2 refused: it is not JSON; the file ends within the line');
  const long = suite.world.write('long.jsonl', [bead('c')]);
  appendFileSync(long, `{"id":"d","title":"t","notes":"${'n'.repeat(17 * 1024 * 1024)}"}\n`);
  appendFileSync(long, JSON.stringify(bead('e')));
  const longer = await suite.world.beads(long);
  expect(longer.stderr).toContain('line 2 refused: it is longer than 16 MiB');
  expect(longer.summary).toMatchObject({ created: 2, refused: 1 });
});

it('an import refuses a line of more than 250,000 values, but no text with as many commas', async () => {
  const file = suite.world.write('many.jsonl', [
    bead('a', { notes: `\\"${',[{'.repeat(250_000)}` }),
    bead('b', { notes: Array.from({ length: 249_990 }, () => 1) }),
    bead('c', { comments: Array.from({ length: 250_000 }, () => ({})) }),
  ]);
  const { summary, stderr } = await suite.world.beads(file);
  expect(stderr).toContain('line 3 refused: it has more than 250,000 values');
  expect(summary).toMatchObject({ created: 2, refused: 1 });
});

it('an import cuts, replaces or omits values that do not fit, each with a warning', async () => {
  const file = suite.world.write('a.jsonl', [
    bead('a', { title: '😀'.repeat(300), description: 'd'.repeat(100_001) }),
    bead('b', { title: 'nul', description: 'a\0b\ud800', notes: 'x\0' }),
    bead('c', { title: 'odd', status: 'mystery', priority: 9, created_at: 'yesterday', updated_at: null }),
    bead('d', {
      title: 'said',
      comments: [{ id: 1, text: '  ' }, { text: 'c'.repeat(50_001) }, { id: 1, text: 'x' }],
    }),
    bead('e', { title: 'labels', labels: Array.from({ length: 60 }, (_, index) => `l${index}`) }),
    bead('g', { title: 'folded', labels: ['Été', 'ete', 'l1'] }),
    bead('h', { title: 'timeless', created_at: undefined }),
  ]);
  const { exitCode, summary, stderr } = await suite.world.beads(file);
  expect([exitCode, summary.created, summary.refused]).toEqual([0, 7, 0]);
  for (const words of [
    'line 1: the title was cut to 255 characters',
    'line 1: the description was cut to 100000 characters',
    'line 2: NUL and half surrogate pairs were replaced',
    'line 3: the status "mystery" is unknown; the issue becomes open',
    'line 3: the priority 9 is unknown; the issue gets none',
    'line 3: the creation time "yesterday" is not a time',
    'line 4: comment 1 is empty and skipped',
    'line 4: comment 2 was cut to 50000 characters',
    'line 5: only the first 50 of 60 labels are imported',
    'line 7: it has no creation time',
  ]) {
    expect(stderr).toContain(words);
  }
  expect(stderr).toMatch(/^1\d warnings$/m);
  expect(stderr).not.toContain('skipped:');
  expect(await byTitle('nul')).toMatchObject({ description: 'a\uFFFDb\uFFFD' });
  expect((await byTitle('folded'))?.labels).toEqual(['Été', 'l1']);
  expect((await suite.world.beads('a.jsonl')).summary).toMatchObject({ unchanged: 7 });
  expect(await brokenInvariants(suite.database)).toEqual({});
});

it('an import stops between batches on request, and a second run continues', async () => {
  const lines = Array.from({ length: 350 }, (_, index) => bead(`s-${index}`));
  const file = suite.world.write('a.jsonl', lines);
  const stopping = new AbortController();
  const args = { file, from: 'beads', team: 'bd', workspace: suite.name };
  const result = await suite.world.run((env) => runImport(env, args), {
    signal: stopping.signal,
    isTty: true,
    stderr: () => stopping.abort(),
  });
  expect(result.exitCode).toBe(130);
  const { summary } = await suite.world.beads(file);
  expect(summary.created + summary.unchanged).toBe(350);
  expect(await issues()).toHaveLength(350);
  expect(await brokenInvariants(suite.database)).toEqual({});
});

it('two concurrent imports of a file create each issue once', async () => {
  const lines = Array.from({ length: 250 }, (_, index) =>
    bead(`t-${index}`, index > 9 ? childOf(`t-${index}`, `t-${index - 9}`) : {}),
  );
  const file = suite.world.write('a.jsonl', lines);
  const [first, second] = await Promise.all([suite.world.beads(file), suite.world.beads(file)]);
  expect(first.summary.created + second.summary.created).toBe(250);
  expect(first.summary.unchanged + second.summary.unchanged).toBe(250);
  expect(await issues()).toHaveLength(250);
  expect(await brokenInvariants(suite.database)).toEqual({});
});

it('an import refuses a line that the database rejects, and imports the others of its batch', async () => {
  await sql`alter table issue add constraint no_devil check (title <> 'devil')`.execute(
    suite.database.unscoped,
  );
  const file = suite.world.write('a.jsonl', [
    bead('a', childOf('a', 'd')),
    bead('b', { title: 'devil' }),
    bead('c'),
    bead('d', childOf('d', 'b')),
  ]);
  const { exitCode, summary, stderr } = await suite.world.beads(file);
  expect([exitCode, summary.created, summary.refused, summary.parents]).toEqual([1, 3, 1, 1]);
  expect(stderr).toContain('line 2 refused: the database refuses it: new row for relation "issue" violates');
  expect((await issues()).map(({ key }) => key)).toEqual(['BD-1', 'BD-2', 'BD-3']);
  expect(await brokenInvariants(suite.database)).toEqual({});
  await sql`alter table issue drop constraint no_devil`.execute(suite.database.unscoped);
});
