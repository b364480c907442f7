import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';

/** Mounts a small file system, in memory. */
export function mountDisk(path: string, megabytes: number): void {
  mkdirSync(path, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=777`, 'workgraph-fault', path]);
}

export function unmount(path: string): void {
  spawnSync('umount', ['-l', path]);
}

/** Fills the file system to the last byte. */
export function fill(path: string): void {
  const file = openSync(path, 'a');
  for (let size = 1 << 22; size >= 1; ) {
    try {
      if (writeSync(file, Buffer.alloc(size, 1)) < size) size = Math.floor(size / 2);
    } catch {
      size = Math.floor(size / 2);
    }
  }
  closeSync(file);
}
