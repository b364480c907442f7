import { entitiesByPrefix } from '../schema/builder/entity.ts';

/** The part after the prefix and its underscore: a UUID in base32. */
export const idTail = '[0-7][0-9a-hjkmnp-tv-z]{25}';

/** The length of an id with this prefix. */
export function idLength(prefix: string): number {
  return `${prefix}_`.length + 26;
}

const idForm = new RegExp(`^([a-z]{1,16})_${idTail}$`);

/** What is wrong with a text that should be an id with this prefix; undefined when its form is valid. */
export function idProblem(prefix: string, text: string): string | undefined {
  const found = idForm.exec(text)?.[1];
  if (found === prefix) return undefined;
  // Accounts have ids but no type: members represent them.
  const isKnown = found === 'user' || [...entitiesByPrefix.keys()].some((known) => known === found);
  const got = found !== undefined && isKnown ? `${withArticle(found)} id` : 'something that is no id';
  return `expected ${withArticle(prefix)} id, got ${got}`;
}

function withArticle(prefix: string): string {
  const entity = [...entitiesByPrefix].find(([known]) => known === prefix)?.[1];
  const noun = entity?.singular ?? prefix;
  return `${/^[aeio]/.test(noun) ? 'an' : 'a'} ${noun}`;
}
