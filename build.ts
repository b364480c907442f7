import { execFileSync } from 'node:child_process';
import { cpSync, globSync, rmSync } from 'node:fs';
import { extname, join } from 'node:path';

// Builds `dist` for `npm pack`, because Node strips no types below node_modules. `dist` is laid out like the
// repository, so that modules and files find each other there as they do here.

const root = import.meta.dirname;
const dist = join(root, 'dist');
const tsc = join(root, 'node_modules/typescript/bin/tsc');

rmSync(dist, { recursive: true, force: true });
for (const project of ['tsconfig.build.json', 'tsconfig.client.json'])
  execFileSync(process.execPath, [tsc, '--project', project], { cwd: root, stdio: 'inherit' });
const files = ['demo', 'docs/queries', 'docs/collection.json', 'openapi.json', 'schema.graphql'];
for (const path of [...files, ...assets()]) {
  cpSync(join(root, path), join(dist, path), { recursive: true });
}

/** What the program reads of `src` besides its modules. Codegen has made a module of the operations of REST. */
function assets(): string[] {
  return globSync('src/**/*.*', { cwd: root }).filter((path) => !['.ts', '.graphql'].includes(extname(path)));
}
