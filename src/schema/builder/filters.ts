import type { InputType } from '@pothos/core';
import type { Through } from '../../db/query/predicate.ts';
import { type FilterField, maxValues, type TextForm } from '../../resolvers/filters.ts';
import type { IdPrefix } from '../../resolvers/ids.ts';
import { builder, type Types } from './builder.ts';
import type { RelatedEntity } from './entity.ts';
import { type Naming, naming } from './naming.ts';

/** What the extensions of an input type say of it. */
export type InputTypeExtensions = {
  /** Its fields are conditions, and parts that hold conditions. */
  readonly isFilter?: boolean;
};

/** What the extensions of an input field say of its value. */
export type InputFieldExtensions = {
  /** It holds parts of the same filter. */
  readonly combines?: boolean;
  /** It leads to another type, for the database a sub-select more. */
  readonly relation?: boolean;
  /** How many items its list takes. */
  readonly maxItems?: number;
};

/** A field of a filter: what it tests (data for the resolver) and the input object of its comparators. */
export interface FilterDeclaration {
  field: FilterField;
  input: InputType<Types>;
  description: string;
  /** The type that a relation leads to. */
  related?: RelatedEntity;
  /** What its values name, where they name something. */
  names?: Naming;
  /** The field that shows the same, and so says what the filter needs; the one of its own name when left out. */
  shownBy?: string;
}

type ColumnOf<Row, Value> = { [K in keyof Row]: Row[K] extends Value | null ? K : never }[keyof Row] & string;

/** Says what a filter's fields test. Columns are checked against the row when this is compiled. */
export interface FilterBuilder<Row> {
  id: (prefix: IdPrefix, column?: ColumnOf<Row, string>) => FilterDeclaration;
  text: (column: ColumnOf<Row, string>, form?: TextForm) => FilterDeclaration;
  /** The key or the code that people know a thing by. */
  key: (of: IdPrefix, column: ColumnOf<Row, string>) => FilterDeclaration;
  int: (column: ColumnOf<Row, number>) => FilterDeclaration;
  boolean: (column: ColumnOf<Row, boolean>) => FilterDeclaration;
  date: (column: ColumnOf<Row, string>) => FilterDeclaration;
  time: (column: ColumnOf<Row, Date>) => FilterDeclaration;
  enum: (type: EnumRef, column: ColumnOf<Row, number>) => FilterDeclaration;
  /** The row that a column refers to. */
  reference: (
    target: RelatedEntity,
    column: ColumnOf<Row, string>,
    by?: 'id' | 'userAccountId',
  ) => FilterDeclaration;
  /** Rows joined by another table, which holds the row's `own` column (its id). */
  some: (
    target: RelatedEntity,
    through: Through,
    options?: { own?: ColumnOf<Row, string>; shownBy?: string },
  ) => FilterDeclaration;
}

type EnumRef = InputType<Types> & { name: string };

const comparators = {
  IDFilter: inputOf('IDFilter', 'Compares an id.', 'ID', ['eq', 'in', 'nin', 'isNull']),
  BooleanFilter: inputOf('BooleanFilter', 'Compares a yes or no.', 'Boolean', ['eq']),
  StringFilter: inputOf('StringFilter', 'Compares a text; case and accents do not count.', 'String', [
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
  DateTimeFilter: inputOf('DateTimeFilter', 'Compares a moment.', 'DateTime', [
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
  const say: Record<Comparator, string> = {
    eq: 'Is equal to.',
    neq: 'Is not equal to.',
    lt: 'Is less than.',
    lte: 'Is less than or equal to.',
    gt: 'Is greater than.',
    gte: 'Is greater than or equal to.',
    in: `Is one of these, at most ${maxValues}; of an empty list, none is.`,
    nin: `Is none of these, at most ${maxValues}; what has no value is none of them.`,
    contains: 'Contains this text; `%` and `_` are just characters.',
    startsWith: 'Starts with this text.',
    isNull: 'Has no value (true), or has one (false).',
  };
  return builder.inputRef<Record<string, unknown>>(name).implement({
    description: `${description} Several comparators must all hold; a null one is as if left out.`,
    fields: (t) =>
      Object.fromEntries(
        offered.map((comparator) => {
          const described = { description: say[comparator] };
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
  const created = inputOf(name, `Compares a ${type.name}.`, type, ['eq', 'in', 'nin']);
  enumFilters.set(name, created);
  return created;
}

const quantified = new Map<string, InputType<Types>>();

function quantifiedFilter(target: RelatedEntity): InputType<Types> {
  const name = `${target.name}ListFilter`;
  const existing = quantified.get(name);
  if (existing) return existing;
  const created = builder.inputRef<Record<string, unknown>>(name).implement({
    description: `Tests a list of ${target.plural}.`,
    fields: (t) => ({
      some: t.field({ type: target.filterInput(), description: 'At least one of them is so.' }),
      none: t.field({ type: target.filterInput(), description: 'None of them is so.' }),
    }),
  });
  quantified.set(name, created);
  return created;
}

/** The vocabulary of filters, for the rows of any table. */
export const filterBuilder: FilterBuilder<Record<string, never>> = {
  id: (prefix, column: string = 'id') => ({
    field: { kind: 'id', column, prefix },
    input: comparators.IDFilter,
    ...naming('id', prefix),
    description: `Compares ${column === 'id' ? 'the id itself' : `\`${column}\``}.`,
  }),
  text: (column, form = 'fold') => ({
    field: { kind: 'text', column, form },
    input: comparators.StringFilter,
    description: `Compares \`${column.replace(/Fold$/, '')}\`.`,
  }),
  key: (of, column) => ({
    field: { kind: 'text', column, form: 'upper' },
    input: comparators.StringFilter,
    ...naming('key', of),
    description: `Compares \`${column}\`.`,
  }),
  int: (column) => value(column, comparators.IntFilter),
  boolean: (column) => value(column, comparators.BooleanFilter),
  date: (column) => value(column, comparators.DateFilter),
  time: (column) => value(column, comparators.DateTimeFilter),
  enum: (type, column) => value(column, enumFilter(type)),
  reference: (target, column, by = 'id') => ({
    field: { kind: 'reference', column, target: { ...target.filterTarget(), by } },
    input: target.filterInput(),
    related: target,
    description: `Tests the ${target.singular} that \`${column}\` names.`,
  }),
  some: (target, through, { own = 'id', shownBy }: { own?: string; shownBy?: string } = {}) => ({
    shownBy,
    field: { kind: 'through', through, own, target: { ...target.filterTarget(), by: through.by } },
    input: quantifiedFilter(target),
    related: target,
    description: `Tests the ${target.plural}.`,
  }),
};

function value(column: string, input: InputType<Types>): FilterDeclaration {
  return { field: { kind: 'value', column }, input, description: `Compares \`${column}\`.` };
}
