import { limits } from '../../model/limits.ts';
import type { ImportedPerson } from './import-issue.ts';

/** Cuts a text to at most `max` characters and adds a warning that names it when something was lost. */
export function cut(text: string, max: number, what: string, warnings: string[]): string {
  const short = shortened(text, max);
  if (short !== text) warnings.push(`${what} was cut to ${max} characters`);
  return short;
}

/** At most so many characters, the last an ellipsis when something is missing. */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  // Twice as many code units hold as many characters, whatever they are.
  const characters = Array.from(text.slice(0, 2 * max + 2));
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}

/** A person whose name and address fit the tables. */
export function cleanPerson({ name, emailAddress, principalKind }: ImportedPerson): ImportedPerson {
  const email = emailAddress?.trim();
  return {
    name: shortened(name.trim(), limits.name) || shortened(email ?? '', limits.name) || 'Unknown',
    emailAddress: email === undefined || email === '' || email.length > 320 ? undefined : email,
    principalKind,
  };
}

/** The later of two times. */
export function later(left: Date, right: Date): Date {
  return left > right ? left : right;
}
