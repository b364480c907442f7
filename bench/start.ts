import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

// `npm run bench` starts this file, which installs the peers if they are missing; streams have none.
const folder = import.meta.dirname;
const isLive = process.argv.includes('--live');
if (!isLive && !existsSync(join(folder, 'node_modules'))) {
  const { status } = spawnSync('npm', ['ci', '--no-fund', '--no-audit'], {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
}
await import(isLive ? './live/main.ts' : './main.ts');
