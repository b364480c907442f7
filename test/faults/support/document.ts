import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const path = join(import.meta.dirname, '../../../docs/faults.md');

export interface Figure {
  readonly name: string;
  readonly fault: string;
  readonly pass: string;
  readonly measured: string;
  readonly command: string;
}

/** Adds a row to the table of docs/faults.md, or replaces the row of the same fault. */
export function writeFigure({ name, fault, pass, measured, command }: Figure): void {
  const today = new Date().toISOString().slice(0, 10);
  const cells = [`<a id="${name}"></a>${fault}`, pass, measured, `\`${command}\``, today];
  const row = `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')).join(' | ')} |`;
  const lines = readFileSync(path, 'utf8').split('\n');
  const old = lines.findIndex((line) => line.startsWith(`| <a id="${name}"></a>`));
  const lastOfTable = lines.findLastIndex((line) => line.startsWith('|'));
  if (old >= 0) lines[old] = row;
  else lines.splice(lastOfTable + 1, 0, row);
  writeFileSync(path, lines.join('\n'));
}
