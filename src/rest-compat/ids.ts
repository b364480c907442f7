import { idRule } from '../model/sentences.ts';
import { type NamedKind, namedKinds } from '../schema/builder/naming.ts';

/** The part after the prefix and its underscore: a UUID in base32. */
export const idTail = '[0-7][0-9a-hjkmnp-tv-z]{25}';

/** The length of an id with this prefix. */
export function idLength(prefix: string): number {
  return `${prefix}_`.length + 26;
}

const idPattern = new RegExp(`^([a-z]{1,16})_${idTail}$`);

/** What is wrong with a text that should be an id with this prefix; undefined when its form is valid. */
export function idProblem(prefix: NamedKind, text: string): string | undefined {
  const found = idPattern.exec(text)?.[1];
  if (found === prefix) return undefined;
  return idRule(
    prefix,
    namedKinds.find((kind) => kind === found),
  );
}
