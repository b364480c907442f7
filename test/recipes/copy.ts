import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RepositoryCopy } from '../support/repository-copy.ts';
import { edited, type Recipe } from './recipe.ts';

/** A copy of the repository to which recipes are applied. */
export class Copy extends RepositoryCopy {
  /** Does every step of the recipe. */
  apply({ steps }: Recipe): void {
    for (const { path, edits } of steps) {
      const file = join(this.directory, path);
      const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, edited(path, before, edits));
    }
  }
}
