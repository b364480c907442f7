import type { InputType } from '@pothos/core';
import type { Through } from '../../db/query/conditions/predicate.ts';
import { type FilterField, maxValues, type TextConversion } from '../../resolvers/filters.ts';
import type { IdPrefix } from '../../resolvers/ids.ts';
import { builder, type Types } from './builder.ts';
import type { RelatedEntity } from './entity.ts';
import { type Naming, naming } from './naming.ts';

/** The extensions of an input type. */
export type InputTypeExtensions = {
  /** The type is a filter: its fields are conditions or combinations of conditions. */
  readonly isFilter?: boolean;
};

/** The extensions of an input field. */
export type InputFieldExtensions = {
  /** The field combines filters of the same type (`and`, `or`, `not`). */
  readonly combines?: boolean;
  /** The field filters by a related type, which adds a sub-select to the SQL. */
  readonly relation?: boolean;
  /** The maximum length of its list. */
  readonly maxItems?: number;
};

/** A field of a filter: the condition as data, which the resolver reads, and the input type of its comparators. */
export interface FilterDeclaration {
  field: FilterField;
  input: InputType<Types>;
  description: string;
  /** The related type, if the field filters by one. */
  related?: RelatedEntity;
  /** The kind of object that its values identify, if they are ids, keys or codes. */
  names?: Naming;
  /** The output field with the same data, whose scope the filter requires; by default the field of the same name. */
  shownBy?: string;
}

type ColumnOf<Row, Value> = { [K in keyof Row]: Row[K] extends Value | null ? K : never }[keyof Row] & string;

/** Makes the fields of a filter. The compiler checks the columns against the row. */
export interface FilterBuilder<Row> {
  id: (prefix: IdPrefix, column?: ColumnOf<Row, string>) => FilterDeclaration;
  text: (column: ColumnOf<Row, string>, conversion?: TextConversion) => FilterDeclaration;
  /** The key or the code of an object, which people use instead of its id. */
  key: (of: IdPrefix, column: ColumnOf<Row, string>) => FilterDeclaration;
  int: (column: ColumnOf<Row, number>) => FilterDeclaration;
  boolean: (column: ColumnOf<Row, boolean>) => FilterDeclaration;
  date: (column: ColumnOf<Row, string>) => FilterDeclaration;
  time: (column: ColumnOf<Row, Date>) => FilterDeclaration;
  /** With `ranked`, the rank of the value is compared with that in another column. */
  enum: (
    type: EnumRef,
    column: ColumnOf<Row, number>,
    ranked?: { column: ColumnOf<Row, number>; of: (value: number) => number },
  ) => FilterDeclaration;
  /** A condition on the row that a column refers to. */
  reference: (
    target: RelatedEntity,
    column: ColumnOf<Row, string>,
    by?: 'id' | 'userAccountId',
  ) => FilterDeclaration;
  /** A condition on the rows that a join table connects with the row's `own` column (by default its id). */
  some: (
    target: RelatedEntity,
    through: Through,
    options?: { own?: ColumnOf<Row, string>; shownBy?: string },
  ) => FilterDeclaration;
}

type EnumRef = InputType<Types> & { name: string };

const comparators = {
  IDFilter: inputOf('IDFilter', 'Compares an id.', 'ID', ['eq', 'in', 'nin', 'isNull']),
  BooleanFilter: inputOf('BooleanFilter', 'Compares a Boolean.', 'Boolean', ['eq']),
  StringFilter: inputOf('StringFilter', 'Compares a text, ignoring case and accents.', 'String', [
    'eq',
    'neq',
    'in',
    'nin',
    'contains',
    'startsWith',
  ]),
  IntFilter: inputOf('IntFilter', 'Compares a whole number.', 'Int', [
    'eq',
    'lt',
    'lte',
    'gt',
    'gte',
    'in',
    'isNull',
  ]),
  DateFilter: inputOf('DateFilter', 'Compares a calendar date.', 'Date', [
    'eq',
    'lt',
    'lte',
    'gt',
    'gte',
    'in',
    'isNull',
  ]),
  DateTimeFilter: inputOf('DateTimeFilter', 'Compares a point in time.', 'DateTime', [
    'eq',
    'lt',
    'lte',
    'gt',
    'gte',
    'in',
    'isNull',
  ]),
};

type Comparator =
  | 'eq'
  | 'neq'
  | 'lt'
  | 'lte'
  | 'gt'
  | 'gte'
  | 'in'
  | 'nin'
  | 'contains'
  | 'startsWith'
  | 'isNull';

function inputOf(name: string, description: string, type: InputType<Types>, offered: readonly Comparator[]) {
  const descriptions: Record<Comparator, string> = {
    eq: 'Is equal to.',
    neq: 'Is not equal to.',
    lt: 'Is less than.',
    lte: 'Is less than or equal to.',
    gt: 'Is greater than.',
    gte: 'Is greater than or equal to.',
    in: `Is one of these values, at most ${maxValues}. Nothing matches an empty list.`,
    nin: `Is none of these values, at most ${maxValues}. A field without a value matches.`,
    contains: 'Contains this text. `%` and `_` have no special meaning.',
    startsWith: 'Starts with this text.',
    isNull: 'Has no value (true) or has one (false).',
  };
  return builder.inputRef<Record<string, unknown>>(name).implement({
    description: `${description} If several comparators are set, all must match; a comparator that is null is ignored.`,
    fields: (t) =>
      Object.fromEntries(
        offered.map((comparator) => {
          const described = { description: descriptions[comparator] };
          if (comparator === 'isNull') return [comparator, t.boolean(described)];
          const list = comparator === 'in' || comparator === 'nin';
          if (!list) return [comparator, t.field({ ...described, type })];
          const extensions: InputFieldExtensions = { maxItems: maxValues };
          return [comparator, t.field({ ...described, type: [type], extensions })];
        }),
      ) as never,
  });
}

const enumFilters = new Map<string, InputType<Types>>();

function enumFilter(type: EnumRef): InputType<Types> {
  const name = `${type.name}Filter`;
  const existing = enumFilters.get(name);
  if (existing) return existing;
  const created = inputOf(name, `Compares values of ${type.name}.`, type, ['eq', 'in', 'nin']);
  enumFilters.set(name, created);
  return created;
}

const quantified = new Map<string, InputType<Types>>();

function quantifiedFilter(target: RelatedEntity): InputType<Types> {
  const name = `${target.name}ListFilter`;
  const existing = quantified.get(name);
  if (existing) return existing;
  const created = builder.inputRef<Record<string, unknown>>(name).implement({
    description: `Filters by a list of ${target.plural}.`,
    fields: (t) => ({
      some: t.field({ type: target.filterInput(), description: 'At least one of them matches.' }),
      none: t.field({ type: target.filterInput(), description: 'None of them matches.' }),
    }),
  });
  quantified.set(name, created);
  return created;
}

/** The filter builder for rows of any table. */
export const filterBuilder: FilterBuilder<Record<string, never>> = {
  id: (prefix, column: string = 'id') => ({
    field: { kind: 'id', column, prefix },
    input: comparators.IDFilter,
    ...naming('id', prefix),
    description: `Compares ${column === 'id' ? 'the id itself' : `\`${column}\``}.`,
  }),
  text: (column, conversion = 'fold') => ({
    field: { kind: 'text', column, conversion },
    input: comparators.StringFilter,
    description: `Compares \`${column.replace(/Fold$/, '')}\`.`,
  }),
  key: (of, column) => ({
    field: { kind: 'text', column, conversion: 'upper' },
    input: comparators.StringFilter,
    ...naming('key', of),
    description: `Compares \`${column}\`.`,
  }),
  int: (column) => value(column, comparators.IntFilter),
  boolean: (column) => value(column, comparators.BooleanFilter),
  date: (column) => value(column, comparators.DateFilter),
  time: (column) => value(column, comparators.DateTimeFilter),
  enum: (type, column, ranked) => {
    const declared = value(column, enumFilter(type));
    return ranked
      ? { ...declared, field: { kind: 'value', column: ranked.column, stored: ranked.of } }
      : declared;
  },
  reference: (target, column, by = 'id') => ({
    field: { kind: 'reference', column, target: { ...target.filterTarget(), by } },
    input: target.filterInput(),
    related: target,
    description: `Matches when the ${target.singular} of \`${column}\` matches.`,
  }),
  some: (target, through, { own = 'id', shownBy }: { own?: string; shownBy?: string } = {}) => ({
    shownBy,
    field: { kind: 'through', through, own, target: { ...target.filterTarget(), by: through.by } },
    input: quantifiedFilter(target),
    related: target,
    description: `Matches by the ${target.plural}.`,
  }),
};

function value(column: string, input: InputType<Types>): FilterDeclaration {
  return { field: { kind: 'value', column }, input, description: `Compares \`${column}\`.` };
}
