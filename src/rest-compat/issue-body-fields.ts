import {
  mapFieldsByKind,
  type issueFields,
  type StoredFieldName,
  type StoredKind,
} from '../model/issue-fields.ts';
import type { Priority } from './operations.generated.ts';
import { code, date, id, integer, type JsonValue, text } from './values.ts';

interface FieldValues {
  text: string;
  integer: number;
  code: Priority;
  date: string;
  reference: string;
}
type IssueBodyFields = {
  [Name in StoredFieldName]: JsonValue<FieldValues[(typeof issueFields)[Name]['kind']]>;
};

/**
 * Declarations of the stored fields of an issue in a body. A route lists those that it takes, with the names and in the
 * order of the specification.
 */
export const issueBodyFields = mapFieldsByKind<StoredKind, JsonValue<unknown>>({
  text: (_name, { description, min, max, trimmed }) =>
    text(description, { minLength: min, maxLength: max, trimmed }),
  integer: (_name, { description, min, max }) => integer(description, { minimum: min, maximum: max }),
  code: (_name, { description }) => code<Priority>('Priority', description.replace(/\.$/, ':')),
  date: (_name, { description }) => date(description),
  reference: (_name, field) => id(field.of, field.description),
  // The type of a declaration's values follows from the kind of its field.
}) as IssueBodyFields;
