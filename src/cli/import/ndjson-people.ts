import { codeTables } from '../../model/codes.ts';
import { isEmailAddress } from '../../model/email-address.ts';
import type { ImportedPerson } from '../../portability/import/import-issue.ts';
import { isRecord, wordOf } from './records.ts';

/** The people in a list. Entries without a name or an address are skipped. */
export function people(value: unknown): ImportedPerson[] {
  return Array.isArray(value) ? value.flatMap((each) => personOf(each) ?? []) : [];
}

/** A person as an object, or as a text: an e-mail address or a name. */
export function personOf(value: unknown): ImportedPerson | undefined {
  const text = wordOf(value);
  if (text !== undefined) return isEmailAddress(text) ? { name: text, emailAddress: text } : { name: text };
  if (!isRecord(value)) return undefined;
  const [name, emailAddress] = [wordOf(value.displayName), wordOf(value.emailAddress)];
  const kind = Object.entries(codeTables.principalKind).find(
    ([word, code]) => code > 0 && word === value.principalKind,
  )?.[1];
  if (name === undefined && emailAddress === undefined) return undefined;
  return { name: name ?? emailAddress ?? '', emailAddress, principalKind: kind };
}
