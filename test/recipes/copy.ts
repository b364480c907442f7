import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { edited, type Recipe } from './recipe.ts';

const notCopied: ReadonlySet<string> = new Set(['node_modules', '.git', '.workgraph']);

/** A copy of the repository to which recipes are applied. */
export class Copy {
  readonly directory: string = mkdtempSync(join(tmpdir(), 'workgraph-recipes-'));

  constructor(root: string) {
    cpSync(root, this.directory, {
      recursive: true,
      filter: (source) => !notCopied.has(source.slice(root.length + 1)),
    });
    symlinkSync(join(root, 'node_modules'), join(this.directory, 'node_modules'));
  }

  /** Does every step of the recipe. */
  apply({ steps }: Recipe): void {
    for (const { path, edits } of steps) {
      const file = join(this.directory, path);
      const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, edited(path, before, edits));
    }
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
