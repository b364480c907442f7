import { type FieldOf, type IssueField, issueFields, type Kind } from '../../model/issue-fields.ts';
import type { FieldsOf, FieldValue, RoleAssignment, ValueOf } from '../../model/issue-values.ts';
import { limits } from '../../model/limits.ts';
import { wholeNumberRule } from '../../model/sentences.ts';
import type { Violations } from '../errors.ts';
import { checkText, uuidOf, uuidsOf } from '../writes/write-rules.ts';

type KindOf<Name extends IssueField> = (typeof issueFields)[Name]['kind'];

/** The fields of an issue that a client can set, as they are sent. In an update null clears a field. */
export type IssueFieldsInput = { [Name in IssueField]?: Readonly<ValueOf<KindOf<Name>>> | null };

/**
 * The values to store, by field. Ids are uuids that have not been looked up yet, and a cleared field has its empty
 * value. An undefined field is not changed.
 */
export type IssueChange = { [Name in IssueField]?: FieldValue<Name> };

type Parse<K extends Kind> = (
  violations: Violations,
  name: FieldOf<K>,
  value: Readonly<ValueOf<K>>,
  field: FieldsOf<K>,
) => ValueOf<K> | undefined;

/** Decodes a value of each kind. Returns undefined, and adds a violation, if the value cannot be stored. */
const parsers: { readonly [K in Kind]: Parse<K> } = {
  text: parseText,
  integer: (violations, name, value, { min, max }) => {
    violations.addUnless(value >= min && value <= max, name, wholeNumberRule(min, max));
    return value;
  },
  // The scalar and the enum of the schema have checked these two.
  date: (_violations, _name, value) => value,
  code: (_violations, _name, value) => value,
  reference: (violations, name, value, field) => uuidOf(violations, name, field.of, value),
  person: (violations, name, value) => uuidOf(violations, name, 'user', value),
  parent: (violations, name, value) => uuidOf(violations, name, 'issue', value),
  ids: (violations, name, values, field) => uuidsOf(violations, name, field.of, values, field.max),
  roles: (violations, _name, values) => parseRoleAssignments(violations, values),
};

const fields = Object.entries(issueFields).map(([name, field]) => ({
  name: name as IssueField,
  field,
  // The compiler cannot see that the parser of a field's kind takes the field's values.
  parse: parsers[field.kind] as (
    violations: Violations,
    name: string,
    value: unknown,
    field: object,
  ) => unknown,
}));

/** Decodes the fields of an input, and adds violations under the names of the input. */
export function parseIssueFields(input: IssueFieldsInput, violations: Violations): IssueChange {
  const change: Record<string, unknown> = {};
  for (const { name, field, parse } of fields) {
    const value = input[name];
    if (value === undefined) continue;
    if (value !== null) change[name] = parse(violations, name, value, field);
    else if ('to' in field.cleared) change[name] = field.cleared.to;
    else violations.add(name, 'cannot be cleared');
  }
  return change;
}

/** Trims a title, and adds a violation if it is invalid. */
export function parseTitle(violations: Violations, title: string): string {
  return parseText(violations, 'title', title, issueFields.title);
}

function parseText(
  violations: Violations,
  name: string,
  value: string,
  { min, max, trimmed }: FieldsOf<'text'>,
): string {
  checkText(violations, name, value, { min, max, trimmed });
  return trimmed ? value.trim() : value;
}

function parseRoleAssignments(
  violations: Violations,
  assignments: readonly RoleAssignment[],
): RoleAssignment[] {
  violations.addUnless(
    assignments.length <= limits.people,
    'roleAssignments',
    `must have at most ${limits.people} items`,
  );
  return assignments.flatMap((assignment, index) => {
    const field = `roleAssignments[${index}]`;
    checkText(violations, `${field}.role`, assignment.role, { min: 1, max: limits.role, trimmed: true });
    const userAccountId = uuidOf(violations, `${field}.userAccountId`, 'user', assignment.userAccountId);
    return userAccountId ? [{ role: assignment.role.trim(), userAccountId }] : [];
  });
}
