import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const notCopied: ReadonlySet<string> = new Set(['node_modules', '.git', '.workgraph', 'dist']);

/** A copy of the repository that a test may change. It shares the installed packages. */
export class RepositoryCopy {
  readonly directory: string = mkdtempSync(join(tmpdir(), 'workgraph-copy-'));

  constructor() {
    cpSync(root, this.directory, {
      recursive: true,
      filter: (source) => !notCopied.has(source.slice(root.length + 1)),
    });
    symlinkSync(join(root, 'node_modules'), join(this.directory, 'node_modules'));
  }

  /** Runs a command in the copy and returns its output; throws if it fails. */
  run(command: string, ...words: string[]): string {
    // The copy may have other migrations, so it must not use this run's templates on a PostgreSQL server.
    const { TEST_DATABASE_URL: _url, TEST_POOLER_URL: _pooler, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync(command, words, {
      cwd: this.directory,
      // The compile cache is keyed by path, so another copy could not use it.
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
