import { priorityRank } from '../model/codes.ts';
import { maxInt32 } from '../model/int32.ts';
import type { FieldRef, InputFieldRef } from '@pothos/core';
import type { Row } from '../db/tables/tables.ts';
import {
  mapFieldsByKind,
  issueFields,
  type IssueField,
  type StoredFieldName,
  type StoredKind,
} from '../model/issue-fields.ts';
import type { RequiredField, ValueOf } from '../model/issue-values.ts';
import type { Types } from './builder/builder.ts';
import type { EntityFieldBuilder, OrderColumn } from './builder/entity.ts';
import { Priority } from './builder/enums.ts';
import type { FilterBuilder, FilterDeclaration } from './builder/filters.ts';
import { naming } from './builder/naming.ts';

// The outputs, inputs, filters and orders of an issue's stored fields, derived from their declarations in the model.

interface FieldDeclaration {
  readonly cleared: object;
  readonly description: string;
  readonly output?: string;
  readonly input?: string;
  readonly order?: string;
}

const codeEnums = { priority: Priority } as const;
const codeRanks = { priority: priorityRank } as const;

/** Whether a field can be null. The type is `true` because Pothos requires that literal for a nullable column. */
function nullable({ cleared }: FieldDeclaration): true {
  return ('to' in cleared && cleared.to === null) as true;
}

/** The fields of the type `Issue` for its stored fields. */
export function storedOutputs(t: EntityFieldBuilder<'issue'>) {
  const described = (field: FieldDeclaration) => ({
    nullable: nullable(field),
    description: field.output ?? field.description,
  });
  return mapFieldsByKind<StoredKind, FieldRef<Types, unknown>>({
    text: (name, field) => t.exposeString(name, described(field)),
    integer: (name, field) => t.exposeInt(name, described(field)),
    code: (name, field) => t.expose(name, { ...described(field), type: codeEnums[field.table] }),
    date: (name, field) => t.expose(name, { ...described(field), type: 'Date' }),
    reference: (name, field) => t.idOf(field.of, name, described(field)),
  });
}

type InputBuilder = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>;

const inputs = mapFieldsByKind<StoredKind, (t: InputBuilder) => InputFieldRef<Types, unknown>>({
  text: (_name, field) => (t) => t.string({ description: inputDescription(field) }),
  integer: (_name, field) => (t) =>
    t.int({ description: `${inputDescription(field).replace(/\.$/, '')}; ${rangeOf(field)}.` }),
  code: (_name, field) => (t) =>
    t.field({ type: codeEnums[field.table], description: inputDescription(field) }),
  date: (_name, field) => (t) => t.field({ type: 'Date', description: inputDescription(field) }),
  reference: (_name, field) => (t) =>
    t.id({ extensions: naming('id', field.of), description: inputDescription(field) }),
});

function rangeOf({ min, max }: { readonly min: number; readonly max: number }): string {
  return max === maxInt32 ? `${min} or more` : `${min} to ${max}`;
}

function inputDescription({ input, description }: FieldDeclaration): string {
  return input ?? description;
}

/** The stored fields that both inputs describe alike: all but those that a new issue requires. */
type SharedField = Exclude<StoredFieldName, RequiredField>;
type SharedInputs = {
  [Name in SharedField]: InputFieldRef<Types, ValueOf<(typeof issueFields)[Name]['kind']> | null | undefined>;
};

/** The input fields for stored fields that creating and updating an issue share. */
export function storedInputs(t: InputBuilder): SharedInputs {
  const shared = Object.entries(inputs).filter(
    ([name]) => !('refused' in issueFields[name as IssueField].cleared),
  );
  // The type of an input field follows from the kind of the stored field, which the compiler cannot see.
  return Object.fromEntries(shared.map(([name, input]) => [name, input(t)])) as SharedInputs;
}

/** The filter fields for stored fields. A text that is not stored in folded form has none. */
export function storedFilters(f: FilterBuilder<Row<'issue'>>): Record<string, FilterDeclaration> {
  const filters = mapFieldsByKind<StoredKind, FilterDeclaration | undefined>({
    text: (_name, field) => ('folded' in field ? f.text(field.folded) : undefined),
    integer: (name) => f.int(name),
    code: (name, field) => f.enum(codeEnums[field.table], name, codeRanks[field.table]),
    date: (name) => f.date(name),
    reference: (name, field) => f.id(field.of, name),
  });
  return Object.fromEntries(
    Object.entries(filters).flatMap(([name, filter]) => (filter ? [[name, filter]] : [])),
  );
}

type IssueOrder = OrderColumn<Row<'issue'>>;

/** The orders by stored fields, with the names that their declarations give them. */
export function storedOrders(): Record<string, IssueOrder> {
  const orders = mapFieldsByKind<'date' | 'integer', IssueOrder>({
    date: (name, field) => ({ column: name, kind: 'date', nullable: nullable(field) }),
    integer: (name, field) => ({ column: name, kind: 'int', nullable: nullable(field) }),
  });
  return Object.fromEntries(
    Object.values(orders).flatMap((order) => {
      const { order: name }: FieldDeclaration = issueFields[order.column as keyof typeof orders];
      return name === undefined ? [] : [[name, order]];
    }),
  );
}
