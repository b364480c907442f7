import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The bytes of a PDF of one page. */
export function demoPdf(): Buffer {
  return readFileSync(join(import.meta.dirname, '../../demo/files/report-1.pdf'));
}
