import { codeTables } from '../../model/codes.ts';
import { mapFieldsByKind, type IssueField, issueFields } from '../../model/issue-fields.ts';
import type { IssueChange } from './issue-input.ts';
import type { References } from './issue-references.ts';

/**
 * How an entry writes the new value, by the kind of its field. For texts, lists and parents it has only the field's
 * name.
 */
const valueTexts = mapFieldsByKind<
  'code' | 'integer' | 'date' | 'reference' | 'person',
  (value: string | number, references: References) => string
>({
  code:
    (_name, { table }) =>
    (value) =>
      nameOfCode(table, value),
  integer: () => String,
  date: () => String,
  reference: (_name, field) => (id, references) => references.name(field.of, String(id)),
  person: () => (id, references) => references.name('member', String(id)),
});
const valueTextOf: Readonly<Partial<Record<IssueField, (typeof valueTexts)[keyof typeof valueTexts]>>> =
  valueTexts;
const fields = Object.entries(issueFields).map(([name, { activity }]) => ({
  name: name as IssueField,
  activity,
}));

/** What a change did, in words that follow a name: "changed the title, the status to Done and the labels". */
export function activityTextOf(change: IssueChange, references: References): string {
  const parts = fields.flatMap(({ name, activity }) => {
    const value = change[name];
    if (value === undefined) return [];
    const textOf = valueTextOf[name];
    if (!textOf || Array.isArray(value)) return [activity];
    return [`${activity} to ${value === null ? 'none' : textOf(value, references)}`];
  });
  return `changed ${enumerate(parts)}`;
}

/** "a", "a and b", or "a, b and c". `Intl.ListFormat` takes eight times as long. */
function enumerate(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
}

function nameOfCode(table: keyof typeof codeTables, code: string | number): string {
  const [name] = Object.entries(codeTables[table]).find(([, value]) => value === code) ?? [];
  return name ?? 'none';
}
