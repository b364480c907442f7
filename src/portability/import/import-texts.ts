import { isEmailAddress } from '../../model/email-address.ts';
import { limits } from '../../model/limits.ts';
import type { ImportedPerson } from './import-issue.ts';

/** Truncates a text to at most `max` characters. If that shortens it, adds a warning with its label. */
export function cut(text: string, max: number, label: string, warnings: string[]): string {
  const short = shortened(text, max);
  if (short !== text) warnings.push(`${label} was cut to ${max} characters`);
  return short;
}

/** The first `max` items of a list. If there are more, adds a warning that names them. */
export function firstOf<Item>(
  items: readonly Item[],
  max: number,
  names: string,
  warnings: string[],
): Item[] {
  if (items.length > max) warnings.push(`only the first ${max} of ${items.length} ${names} are imported`);
  return items.slice(0, max);
}

/** The first `max` characters of a text; the last one is an ellipsis if the text was longer. */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  // A character has at most two code units.
  const characters = Array.from(text.slice(0, 2 * max + 2));
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}

/** The person with a name and an address that fit the tables. Leaves out an address that is not valid, with a warning. */
export function cleanPerson(
  { name, emailAddress, principalKind }: ImportedPerson,
  warnings: string[],
): ImportedPerson {
  const email = emailAddress?.trim() ?? '';
  const isStorable = isEmailAddress(email) && email.length <= limits.emailAddress;
  const fitting =
    cut(name.trim(), limits.name, 'the name of a person', warnings) ||
    shortened(email, limits.name) ||
    'Unknown';
  if (email !== '' && !isStorable)
    warnings.push(`the e-mail address "${shortened(email, 60)}" of ${fitting} is not valid and is left out`);
  return { name: fitting, emailAddress: isStorable ? email : undefined, principalKind };
}

/** The later of two times. */
export function laterTime(left: Date, right: Date): Date {
  return left > right ? left : right;
}
