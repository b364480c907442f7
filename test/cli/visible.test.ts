import { expect, it } from '@jest/globals';
import { table } from '../../src/cli/table.ts';
import { escapeControlCharacters } from '../../src/cli/visible.ts';

it('a text shows its control characters as escapes, and its line feeds where it may have lines', () => {
  const text = 'a\u001B[2J\u0000\u007F\u009B\tb\r\nÄ 😀';
  expect(escapeControlCharacters(text)).toBe(String.raw`a\u001b[2J\u0000\u007f\u009b\u0009b\u000d\u000aÄ 😀`);
  expect(escapeControlCharacters(text, { keepsLines: true })).toBe(
    String.raw`a\u001b[2J\u0000\u007f\u009b\u0009b\u000d` + '\nÄ 😀',
  );
});

it('a table shows control characters of its cells as escapes', () => {
  expect(table(['NAME', 'ROLE'], [['a\nb', 'owner']])).toBe('NAME      ROLE\na\\u000ab  owner\n');
});
