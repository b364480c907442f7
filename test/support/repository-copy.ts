import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const notCopied: ReadonlySet<string> = new Set(['node_modules', '.git', '.workgraph', 'dist']);

/** A copy of the repository, with the same installed packages, which a test may change. */
export class RepositoryCopy {
  readonly directory: string = mkdtempSync(join(tmpdir(), 'workgraph-copy-'));

  constructor() {
    cpSync(root, this.directory, {
      recursive: true,
      filter: (source) => !notCopied.has(source.slice(root.length + 1)),
    });
    symlinkSync(join(root, 'node_modules'), join(this.directory, 'node_modules'));
  }

  /** Runs a command there and gives what it prints; throws when it fails. */
  run(command: string, ...words: string[]): string {
    // The migrations of the copy are its own, so it must not use the templates of this run on a PostgreSQL server.
    const { TEST_DATABASE_URL: _url, TEST_POOLER_URL: _pooler, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync(command, words, {
      cwd: this.directory,
      // Modules are cached by their paths, which no other copy has.
      env: { ...env, NODE_COMPILE_CACHE: join(this.directory, '.compiled') },
      encoding: 'utf8',
      maxBuffer: 64e6,
    });
    if (status !== 0) throw new Error(`${command} ${words.join(' ')}: ${status}\n${stdout}\n${stderr}`);
    return stdout;
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
