import { escapeControlCharacters } from './visible.ts';

/** Formats rows as a table of aligned columns with headings. */
export function table(headings: readonly string[], values: readonly (readonly string[])[]): string {
  const rows = values.map((row) => row.map((value) => escapeControlCharacters(value)));
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [headings, ...rows].map((cells) => `${line(cells)}\n`).join('');
}
