import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const page = readFileSync(join(import.meta.dirname, '../../docs/live.md'), 'utf8');

/** The examples of docs/live.md in a language, in the order of the page. */
export function fenced(language: string): string[] {
  return Array.from(
    page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\\n\`\`\``, 'gs')),
    ([, text = '']) => text,
  );
}

/** A function that an example of the page declares; `given` are the names that it imports. */
export async function functionOf<Result>(name: string, given: Record<string, unknown> = {}): Promise<Result> {
  const code = fenced('js').find(
    (text) => text.includes(`function ${name}(`) || text.includes(`function* ${name}(`),
  );
  if (!code) throw new Error(`The page has no ${name}.`);
  const names = Object.keys(given).join(', ');
  const text = `export const make = ({ ${names} }) => { ${code.replace(/^import .*$/m, '')}\nreturn ${name}; }`;
  const { make } = (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as {
    make: (names: Record<string, unknown>) => Result;
  };
  return make(given);
}
