import { resolve } from 'node:path';

/** The absolute path of the file that stores the demo's token. Only its owner can read it. */
export function tokenFileOf(dataDir: string): string {
  return resolve(dataDir, 'demo-token');
}
