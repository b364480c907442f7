import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// The switches of the guards, for processes that a test starts. In the test itself they exist already.
if (!('guardIsOn' in globalThis)) {
  const notes = join(import.meta.dirname, '../../.workgraph');
  const { mutant } = JSON.parse(readFileSync(join(notes, 'trial'), 'utf8')) as { mutant?: number };
  const noted = new Set<string>();
  Object.assign(globalThis, {
    guardIsOn(place: number, how: string): boolean {
      const note = `${place} ${how}`;
      if (!noted.has(note)) appendFileSync(join(notes, 'processes'), `${note}\n`);
      noted.add(note);
      return place !== mutant;
    },
  });
}
