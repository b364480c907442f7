import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { copyIntoDirectory } from '../support/templates.ts';
import { bead } from './import-world.ts';
import { inTerminal, serveInTerminal, workgraph } from './workgraph.ts';

// `script` is another program on other systems.
const onLinux = process.platform === 'linux' ? describe : describe.skip;

let directory: string;
let dataDir: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'workgraph-terminal-'));
  dataDir = join(directory, 'data');
  await copyIntoDirectory('migrated', dataDir);
  await workgraph(['workspace', 'create', '--name', 'Acme', '--data-dir', dataDir]);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

onLinux('a terminal', () => {
  it('shows the rate and the time left of an import, which Ctrl+C ends and a second run continues', async () => {
    const total = 2_000;
    const beads = Array.from({ length: total }, (_, index) => JSON.stringify(bead(`b-${index}`)));
    const file = join(directory, 'many.jsonl');
    writeFileSync(file, beads.join('\n'));
    const words = ['import', file, '--from', 'beads', '--team', 'BD', '--create-team', 'Beads'];
    const args = [...words, '--data-dir', dataDir];
    const { exitCode, output } = await inTerminal(args, async (shown) => {
      await shown(/\[#*-*\] +\d+%  \d+ issues  [\d.]+\/s  (?:\d+ min )?\d+ s left/);
    });
    expect(exitCode).toBe(130);
    // The bar is gone, and the cursor is back.
    const [last] = output.split('\x1b[?25h').slice(-1);
    expect(stripVTControlCharacters(last ?? '').trim()).toMatch(
      /^Stopped\. The issues imported so far are complete; run the command again to continue\.\s+(\d+) issues in [\d.]+ s: \1 created/,
    );
    const imported = Number(/(\d+) issues in/.exec(last ?? '')?.[1]);
    expect(imported).toBeLessThan(total);
    const again = await workgraph([...args, '--json']);
    expect(again.exitCode).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ created: total - imported, unchanged: imported });
    expect(again.stderr).toMatch(
      /^2000 issues in [\d.]+ s: \d+ created, 0 updated, \d+ unchanged\nstored with/,
    );
  });

  it('shows one line of the log for each request', async () => {
    const output = await serveInTerminal(['--no-demo', '--data-dir', dataDir], async (url, shown) => {
      for (const path of ['/', '/v1/teams', '/nowhere']) await (await fetch(url + path)).arrayBuffer();
      // At Ctrl+C the terminal discards what it has not shown yet.
      await shown(/GET \/nowhere 404[^\n]*\n/);
    });
    // The terminal echoes Ctrl+C, perhaps before the last line.
    const lines = stripVTControlCharacters(output).replaceAll('^C', '').split(/\r?\n/);
    // Slow statements of a busy machine are logged between them.
    const logged = lines.slice(lines.findIndex((line) => line.includes('GET / 200')));
    expect(logged.filter((line) => !line.startsWith('['))).toEqual(['']);
    expect(logged.filter((line) => line.includes('INFO: GET'))).toEqual([
      expect.stringMatching(/^\[[\d:]{8}\] INFO: GET \/ 200 \{"ms":[\d.]+,"statements":0\}$/),
      expect.stringMatching(/^\[[\d:]{8}\] INFO: GET \/v1\/teams 401 \{.*"operation":"Teams".*\}$/),
      expect.stringMatching(/^\[[\d:]{8}\] INFO: GET \/nowhere 404 \{.*\}$/),
    ]);
    expect(output).toContain('\x1b[');
  });

  it('shows bold headings above the groups of flags, and a pipe gets plain ones', async () => {
    const { output } = await inTerminal(['serve', '--help'], async (shown) => {
      await shown(/--drain-ms/);
    });
    const { stdout } = await workgraph(['serve', '--help']);
    const headings = ['Address', 'Database and processes', 'Files', 'Limits', 'Pages and queries'];
    for (const heading of headings) {
      expect(output).toContain(`\x1b[1m${heading}\x1b[22m`);
      expect(stdout).toContain(`\n\n${heading}\n  --`);
    }
    expect(stdout).toBe(stripVTControlCharacters(stdout));
  });
});

it('`directory apply` into `head` exits with 0', () => {
  // Far more lines than a pipe holds, which is 64 KiB.
  const label = (index: number) => `a label with a long name ${index}`.padEnd(250, '.');
  const labels = Array.from({ length: 600 }, (_, index) => `  - ${label(index)}`);
  const file = join(directory, 'labels.yaml');
  writeFileSync(file, `labels:\n${labels.join('\n')}\n`);
  const command = `'${process.execPath}' bin/workgraph.js directory apply '${file}' --data-dir '${dataDir}' | head -1`;
  const { status, stdout, stderr } = spawnSync('bash', ['-o', 'pipefail', '-c', command], {
    encoding: 'utf8',
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: `create label ${label(0)}\n` });
  expect(stderr).toBe('600 created, 0 updated in Acme\n');
});
