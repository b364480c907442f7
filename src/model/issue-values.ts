import type { FieldOf, IssueField, issueFields, Kind, StoredFieldName } from './issue-fields.ts';

/** Somebody who has a part in an issue. */
export interface RoleAssignment {
  role: string;
  userAccountId: string;
}

/** What a value of each kind is in memory, ids as uuids. */
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

/** Any value of a field; null only where clearing the field stores null. */
export type FieldValue<Name extends IssueField> =
  | ValueOf<(typeof issueFields)[Name]['kind']>
  | ((typeof issueFields)[Name]['cleared'] extends { readonly to: null } ? null : never);

/** A field that can never be empty, so a new issue must bring it. */
export type RequiredField = {
  [Name in StoredFieldName]: (typeof issueFields)[Name]['cleared'] extends { readonly refused: true }
    ? Name
    : never;
}[StoredFieldName];

export type StoredValues = { [Name in StoredFieldName]: FieldValue<Name> };

/** What an interpreter of fields gets of a declaration of one kind. */
export type FieldsOf<K extends Kind> = (typeof issueFields)[FieldOf<K>];
