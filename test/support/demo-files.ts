import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Reads a PDF with one page. */
export function demoPdf(): Buffer {
  return readFileSync(join(import.meta.dirname, '../../demo/files/report-1.pdf'));
}
