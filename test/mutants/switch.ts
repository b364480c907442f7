import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// Defines the switches of the guards in a process that a test starts. In the test itself they already exist.
if (!('guardIsOn' in globalThis)) {
  const notes = join(import.meta.dirname, '../../.workgraph');
  const { mutant } = JSON.parse(readFileSync(join(notes, 'trial'), 'utf8')) as { mutant?: number };
  const noted = new Set<string>();
  Object.assign(globalThis, {
    guardIsOn(index: number, how: string): boolean {
      const note = `${index} ${how}`;
      if (!noted.has(note)) appendFileSync(join(notes, 'processes'), `${note}\n`);
      noted.add(note);
      return index !== mutant;
    },
  });
}
