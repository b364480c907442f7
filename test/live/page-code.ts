import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The code blocks of a page of docs in a language, in the order of the page. */
export function codeBlocks(language: string, page = 'live.md'): string[] {
  const text = readFileSync(join(import.meta.dirname, '../../docs', page), 'utf8');
  return Array.from(
    text.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\\n\`\`\``, 'gs')),
    ([, code = '']) => code,
  );
}

/** The example of a page that declares a function. */
export function exampleOf(name: string, page?: string): string {
  const code = codeBlocks('js', page).find(
    (text) => text.includes(`function ${name}(`) || text.includes(`function* ${name}(`),
  );
  if (!code) throw new Error(`The page has no ${name}.`);
  return code;
}

/** Returns a function that an example of a page declares; `imports` are the values that the example imports. */
export async function importExample<Result>(
  name: string,
  imports: Record<string, unknown> = {},
  page?: string,
): Promise<Result> {
  const code = exampleOf(name, page);
  const names = Object.keys(imports).join(', ');
  const text = `export const make = ({ ${names} }) => { ${code.replace(/^import .*$/m, '')}\nreturn ${name}; }`;
  const { make } = (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as {
    make: (names: Record<string, unknown>) => Result;
  };
  return make(imports);
}
