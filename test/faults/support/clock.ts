import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Time for the requests that began before a jump to end. */
const settledMs = 100;

/** The clock of a process that faketime is loaded into. */
export class Clock {
  jumps = 0;
  readonly #file: string;

  constructor(folder: string) {
    this.#file = join(folder, 'clock');
    writeFileSync(this.#file, '+0\n');
  }

  get env(): Record<string, string> {
    return {
      LD_PRELOAD: library(),
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      // Timers use the monotonic clock, which never jumps.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  async jumpTo(offset: string): Promise<void> {
    writeFileSync(this.#file, `${offset}\n`);
    this.jumps++;
    await delay(settledMs);
  }
}

function library(): string {
  const root = '/usr/lib';
  const folders = readdirSync(root).map((name) => join(root, name, 'faketime', 'libfaketimeMT.so.1'));
  const found = folders.find((path) => existsSync(path));
  if (!found) throw new Error(`There is no libfaketime below ${root}.`);
  return found;
}
