import type { FieldOf, IssueField, issueFields, Kind, StoredFieldName } from './issue-fields.ts';

/** A role of a member in an issue. */
export interface RoleAssignment {
  role: string;
  userAccountId: string;
}

/** The type of the values of each kind in memory. Ids are uuids. */
interface KindValues {
  text: string;
  integer: number;
  /** A code of the field's table. */
  code: number;
  /** A real calendar date, `YYYY-MM-DD`. */
  date: string;
  reference: string;
  person: string;
  parent: string;
  ids: string[];
  roles: RoleAssignment[];
}
export type ValueOf<K extends Kind> = KindValues[K];

/** A value of a field. It can be null only if clearing the field stores null. */
export type FieldValue<Name extends IssueField> =
  | ValueOf<(typeof issueFields)[Name]['kind']>
  | ((typeof issueFields)[Name]['cleared'] extends { readonly to: null } ? null : never);

/** A field that can never be empty, so a new issue must have it. */
export type RequiredField = {
  [Name in StoredFieldName]: (typeof issueFields)[Name]['cleared'] extends { readonly refused: true }
    ? Name
    : never;
}[StoredFieldName];

export type StoredValues = { [Name in StoredFieldName]: FieldValue<Name> };

/** The declarations of all fields of a kind. */
export type FieldsOf<K extends Kind> = (typeof issueFields)[FieldOf<K>];
