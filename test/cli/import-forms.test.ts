import { isUtf8 } from 'node:buffer';
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readLines } from '../../src/cli/import/lines.ts';
import { openSourceFile } from '../../src/cli/import/source-file.ts';
import { bead, exported, useImportWorld } from './import-world.ts';

const suite = useImportWorld();

/** Writes bytes to a file of the world and returns its name. */
function file(name: string, bytes: string | Uint8Array): string {
  const path = suite.world.write(name, []);
  writeFileSync(path, bytes);
  return path;
}

const jsonLines = (...records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const titles = async () => (await exported(suite.world, suite.name)).slice(1).map(({ title }) => title);

describe('bytes that are not UTF-8', () => {
  it('are reported with the number of their line, and the other lines are imported', async () => {
    const latin1 = Buffer.from(jsonLines(bead('b', { title: 'Caf\u00e9' })), 'latin1');
    const text = Buffer.concat([
      Buffer.from(jsonLines(bead('a', { title: 'Caf\u00e9 \ufffd' }))),
      latin1,
      Buffer.from(jsonLines(bead('c'))),
    ]);
    const { exitCode, summary, stderr } = await suite.world.beads(file('a.jsonl', text));
    expect([exitCode, summary.created, summary.refused]).toEqual([1, 2, 1]);
    expect(stderr).toContain('line 2 refused: it is not UTF-8\n');
    expect(await titles()).toEqual(['Caf\u00e9 \ufffd', 'Issue c']);
  });

  it('are found in exactly the lines that contain them, however the file is split into chunks', async () => {
    const line = fc
      .oneof(
        fc.string({ unit: 'grapheme' }).map((each) => Buffer.from(each)),
        fc.uint8Array({ maxLength: 8 }),
      )
      .map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 10 && byte !== 13)));
    const cases = fc.tuple(fc.array(line, { maxLength: 6 }), fc.integer({ min: 1, max: 7 }));
    await fc.assert(
      fc.asyncProperty(cases, async ([lines, chunkBytes]) => {
        const bytes = Buffer.concat(lines.flatMap((each) => [each, Buffer.from('\n')]));
        const chunks = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, index) =>
          bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes),
        );
        const read: (string | undefined)[] = [];
        for await (const { text } of readLines(asyncly(chunks))) read.push(text);
        const expected = lines.map((each) =>
          isUtf8(each) ? each.toString().replace(/^\ufeff/, '') : undefined,
        );
        expect(read).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });
});

describe('gzip', () => {
  const many = Array.from({ length: 300 }, (_, index) =>
    bead(`g-${index}`, { description: 'd'.repeat(500) }),
  );

  it('is read like its content, also in several members', async () => {
    const [first, second] = [many.slice(0, 120), many.slice(120)];
    const members = [gzipSync(jsonLines(...first)), gzipSync(jsonLines(...second))];
    const { exitCode, summary } = await suite.world.beads(file('a.jsonl.gz', Buffer.concat(members)));
    expect([exitCode, summary.created]).toEqual([0, 300]);
    const again = await suite.world.beads(file('a.jsonl', jsonLines(...many)));
    expect(again.summary).toMatchObject({ unchanged: 300, created: 0 });
  });

  it.each(['cut off', 'damaged'])('is imported as far as it can be read when it is %s', async (fault) => {
    const whole = gzipSync(jsonLines(...many, bead('z', { description: noise(300_000) })));
    if (fault === 'damaged') whole.fill(0xff, whole.length - 5_000, whole.length - 4_000);
    const bytes = fault === 'cut off' ? whole.subarray(0, whole.length - 5_000) : whole;
    const { exitCode, summary, stderr } = await suite.world.beads(file('a.gz', bytes));
    expect([exitCode, summary.created, summary.refused]).toEqual([1, 300, 1]);
    const words = fault === 'cut off' ? 'ends' : 'is damaged';
    expect(stderr).toContain(`line 301 refused: the gzip file ${words} here`);
  });

  it('has the same limit for lines, with little memory', async () => {
    const bomb = gzipSync(Buffer.concat([Buffer.alloc(200 * 1024 * 1024, 32), Buffer.from(`\n`)]));
    expect(bomb.length).toBeLessThan(300_000);
    const path = file('bomb.gz', Buffer.concat([bomb, gzipSync(jsonLines(bead('a')))]));
    const before = process.memoryUsage().rss;
    const { summary, stderr } = await suite.world.beads(path);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
    expect(stderr).toContain('line 1 refused: it is longer than 16 MiB');
    expect(summary).toMatchObject({ created: 1, refused: 1 });
  });
});

describe('a file that does not consist of lines of UTF-8', () => {
  const records = jsonLines(bead('a'), bead('b'), bead('c'));
  const array = [bead('a'), bead('b')];
  const utf16 = (text: string) => Buffer.from(text, 'utf16le');
  const forms: readonly (readonly [string, string | Uint8Array, string])[] = [
    [
      'UTF-16 with a byte order mark',
      utf16(`\ufeff${records}`),
      'is UTF-16LE, but only UTF-8 can be imported',
    ],
    ['UTF-16 without one', utf16(records), 'iconv -f UTF-16LE -t UTF-8'],
    ['UTF-16 of the other order', utf16(`\ufeff${records}`).swap16(), 'is UTF-16BE'],
    ['UTF-16 within gzip', gzipSync(utf16(records)), 'is UTF-16LE'],
    ['HTML', '\n<!DOCTYPE html>\n<html>\n<p>Sign in\n</html>\n', 'is HTML or XML'],
    ['a pretty-printed array', JSON.stringify(array, null, 2), `jq -c '.[]'`],
    [
      'a pretty-printed array with CRLF',
      `\ufeff${JSON.stringify(array, null, 2).replaceAll('\n', '\r\n')}`,
      'jq',
    ],
    ['an array with an object a line', `[${array.map((each) => JSON.stringify(each)).join(',\n')}]`, 'jq'],
    ['a long array of one line', JSON.stringify(Array(2_000).fill(bead('a'))), 'jq'],
    ['a pretty-printed object', JSON.stringify({ issues: array }, null, 2), 'jq -c . FILE'],
    ['a zip archive', Buffer.from('PK\x03\x04 and so on\n'), 'is a zip archive'],
    ['the database of beads', Buffer.from('SQLite format 3\0\x10\0\x01'), '`bd export`'],
  ];

  it.each(forms)('is reported once, with what to do: %s', async (_name, bytes, words) => {
    const path = file('a.jsonl', bytes);
    for (const from of ['beads', 'ndjson']) {
      const failure = await suite.world.beads(path, { from, 'create-team': 'Not made', team: 'NOPE' }).then(
        () => undefined,
        (error: unknown) => error as Error,
      );
      expect(failure?.name).toBe('CommandError');
      expect(failure?.message).toContain(words);
      expect(failure?.message.split('\n')).toHaveLength(1);
    }
    expect(JSON.stringify(await exported(suite.world, suite.name))).not.toContain('Not made');
  });

  it('is distinguished from lines of which only the first is invalid', async () => {
    const path = file('a.jsonl', `[1]\n{"id": "b",\n${records}`);
    const { summary, stderr } = await suite.world.beads(path);
    expect(summary).toMatchObject({ created: 3, refused: 2 });
    expect(stderr).toContain(
      "line 1 refused: it is an array, not an object; `jq -c '.[]'` splits an array into lines",
    );
  });

  it.each([
    ['nothing', ''],
    ['a byte order mark', '\ufeff'],
    ['gzip of nothing', gzipSync('')],
  ])('may be empty: %s', async (_name, bytes) => {
    expect(await suite.world.beads(file('a.jsonl', bytes))).toMatchObject({
      exitCode: 0,
      summary: { issues: 0, refused: 0 },
    });
  });
});

describe('records of beads that are not issues', () => {
  it('are counted as left out, and are not an error', async () => {
    const path = file(
      'a.jsonl',
      jsonLines(
        { _schema: 'beads-jsonl/1', _dolt_branch: 'main', _sort: 'stable-v1' },
        { _type: 'issue', ...bead('a') },
        { _type: 'memory', key: 'k', value: 'v' },
        bead('b', { status: 'tombstone' }),
      ),
    );
    const { exitCode, summary, stderr } = await suite.world.beads(path);
    expect(exitCode).toBe(0);
    expect(summary).toMatchObject({ created: 1, refused: 0, tombstones: 1, otherRecords: 2 });
    expect(stderr).toContain('skipped: 1 tombstone skipped, 2 records that are not issues');
  });

  it('are refused when their type is unknown', async () => {
    const path = file('a.jsonl', jsonLines(bead('a'), { _type: 'riddle', id: 'r', title: 'What is it?' }));
    const { exitCode, stderr } = await suite.world.beads(path);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('line 2 refused: its type is "riddle", not issue');
  });
});

it('an import reports how much of a compressed file has been read', async () => {
  const bytes = gzipSync(jsonLines(...Array.from({ length: 3_000 }, (_, index) => bead(noise(20) + index))));
  const source = await openSourceFile(file('a.gz', bytes));
  for await (const _line of readLines(source.text))
    expect(source.bytesRead).toBeLessThanOrEqual(bytes.length);
  expect([source.bytesRead, source.totalBytes]).toEqual([bytes.length, bytes.length]);
  source.close();
});

async function* asyncly(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}

/** Text that does not compress, the same in each run. */
function noise(length: number): string {
  let state = 1;
  const digits = Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return (state % 36).toString(36);
  });
  return digits.join('');
}
