import { type InputFieldMap, RootFieldBuilder, type SchemaTypes } from '@pothos/core';
import type { ListOrder } from '../../db/query/pages/plain-lists.ts';
import type { Predicate, Through } from '../../db/query/conditions/predicate.ts';
import type { ChildSource, Parent as ParentLink } from '../../db/query/walks/walk.ts';
import type { Row, TableName } from '../../db/tables/tables.ts';
import { limits } from '../../model/limits.ts';
import type { ListDeclaration } from '../../resolvers/connections.ts';
import type { IdPrefix } from '../../resolvers/ids.ts';
import type { Entity, RelatedEntity } from './entity.ts';
import type { FieldMeta, TextColumn } from './fields.ts';
import { naming } from './naming.ts';
import type { RowsOf } from './plan.ts';
import { type FieldBuilder, planned } from './plan-resolver.ts';

/** A join table between a parent and a type. The compiler checks the columns. */
export function through<Join extends TableName, Target extends TableName>(
  table: Join,
  parent: TextColumn<Row<Join>>,
  child: TextColumn<Row<Join>>,
  target: Target,
  by: TextColumn<Row<Target>>,
): Through & { target: Target } {
  return { table, parent, child, target, by };
}

/**
 * How children refer to their parent: by their column `key`, or through a join table. Both hold the parent's column `parentKey`, by
 * default its id.
 */
type Children<Parent, Name extends TableName> = { parentKey?: TextColumn<Parent> } & (
  | { key: TextColumn<Row<Name>>; through?: undefined }
  | { through: Through & { target: Name }; key?: undefined }
);

/** The options that override the defaults of the type's lists. */
type ListDefaults = Partial<Pick<ListDeclaration, 'maxPageSize' | 'defaultOrder'>>;

/** The column of the parent that holds the number of children, if there is one. It makes counting unnecessary. */
interface CountDeclaration<Parent> {
  count?: NumberColumn<Parent>;
}

type NumberColumn<Parent> = {
  [Column in keyof Parent & string]: Parent[Column] extends number ? Column : never;
}[keyof Parent & string];

declare global {
  // eslint-disable-next-line typescript/no-namespace -- Pothos is extended by merging into its namespace
  namespace PothosSchemaTypes {
    interface RootFieldBuilder<Types extends SchemaTypes, ParentShape> {
      /** A connection of the parent's children, with the orders, filter and scope of their type. */
      children<Name extends TableName>(
        target: Entity<Name>,
        options: Omit<FieldMeta, 'scope'> &
          Children<ParentShape, Name> &
          ListDefaults &
          CountDeclaration<ParentShape>,
      ): FieldRef<Types, unknown>;
      /** A connection of all rows of the workspace. */
      all<Name extends TableName>(
        target: Entity<Name>,
        options: Omit<FieldMeta, 'scope'>,
      ): FieldRef<Types, unknown>;
      /** All children of the parent as a plain list, for children that are few. */
      list<Name extends TableName>(
        target: Entity<Name>,
        options: FieldMeta & Children<ParentShape, Name> & { orderBy: readonly ListOrder[] },
      ): FieldRef<Types, unknown>;
      /** One column of a plain list, in the list's order: ids if there is a prefix, texts otherwise. */
      listOf<Name extends TableName>(
        target: Entity<Name>,
        options: FieldMeta &
          Children<ParentShape, Name> & {
            orderBy: readonly ListOrder[];
            prefix?: IdPrefix;
            column: TextColumn<Row<Name>>;
          },
      ): FieldRef<Types, unknown>;
      /** The number of the parent's children that match the predicate. */
      count<Name extends TableName>(
        target: Entity<Name>,
        options: FieldMeta & Children<ParentShape, Name> & { filter: Predicate },
      ): FieldRef<Types, unknown>;
    }
  }
}

interface ParentOptions {
  key?: string;
  through?: Through;
}

interface ChildOptions extends FieldMeta, ParentOptions {
  parentKey?: string;
}

function parentLinkOf({ key, through: join }: ParentOptions): ParentLink {
  if (join) return { through: join };
  if (key) return { column: key };
  throw new Error('The children have neither a key nor a join table.');
}

/** All children of a parent. */
function childSource(target: Entity<TableName>, options: ParentOptions): ChildSource {
  return { table: target.options.table, where: target.where, parent: parentLinkOf(options) };
}

/** The part of Pothos's field builder that makes arguments. */
export type ListArgumentBuilder = Pick<FieldBuilder, 'arg'>;

/** The arguments of every connection. */
export function listArguments(
  { arg }: ListArgumentBuilder,
  target: RelatedEntity & Pick<Entity<TableName>, 'orderInput'>,
  maxPageSize: number = limits.pageSize,
) {
  return {
    first: arg.int({
      description: `The number of rows on the page, counted from the start of the list or from \`after\`: 1 to ${maxPageSize}, by default ${limits.defaultPageSize}.`,
    }),
    after: arg.string({
      extensions: naming('cursor'),
      description: 'The page starts after this cursor; an empty cursor means the start of the list.',
    }),
    last: arg.int({
      description: `The number of rows on the page, counted back from the end of the list or from \`before\`: 1 to ${maxPageSize}.`,
    }),
    before: arg.string({
      extensions: naming('cursor'),
      description: 'The page ends before this cursor; an empty cursor means the end of the list.',
    }),
    filter: arg({
      type: target.filterInput(),
      description: `The ${target.plural} to list; all when omitted.`,
    }),
    orderBy: arg({
      type: target.orderInput(),
      description: 'The order of the list; rows with equal values are ordered by id.',
    }),
  } as InputFieldMap;
}

/** The maximum number of rows on a page. A size out of range is refused later, when the page is read. */
export function rowsOfPage({ maxPageSize }: ListDeclaration): RowsOf {
  return ({ first, last }) =>
    Math.min(Math.max(Number(last ?? first ?? limits.defaultPageSize), 1), maxPageSize);
}

/** What the `filter` argument needs, for the scope rule. */
export function needsOfFilter(target: RelatedEntity) {
  return ({ filter }: { filter?: Record<string, unknown> | null }) => target.filterNeeds(filter ?? {});
}

function connection(
  t: FieldBuilder,
  target: Entity<TableName>,
  list: ListDeclaration,
  meta: Omit<FieldMeta, 'scope'>,
  parentKey?: string,
  count?: string,
) {
  const options = {
    ...meta,
    scope: target.options.scope,
    args: listArguments(t, target, list.maxPageSize),
    extensions: { needsOfArguments: needsOfFilter(target), rows: rowsOfPage(list) },
  };
  return planned(t, target.connection(), options, { kind: 'connection', list, parentKey, count });
}

function childList(target: Entity<TableName>, options: ChildOptions & { orderBy: readonly ListOrder[] }) {
  const { key, through: join, parentKey = 'id', orderBy, ...meta } = options;
  return { meta, source: childSource(target, { key, through: join }), orderBy, parentKey };
}

const helpers = {
  children(
    this: FieldBuilder,
    target: Entity<TableName>,
    options: ChildOptions & ListDefaults & { count?: string },
  ) {
    const { key, through: join, parentKey = 'id', count, maxPageSize, defaultOrder, ...meta } = options;
    const base = target.list();
    const source = { ...base.source, parent: parentLinkOf({ key, through: join }) };
    return connection(
      this,
      target,
      { ...base, source, ...(maxPageSize && { maxPageSize }), ...(defaultOrder && { defaultOrder }) },
      meta,
      parentKey,
      count,
    );
  },
  all(this: FieldBuilder, target: Entity<TableName>, meta: FieldMeta) {
    return connection(this, target, target.list(), meta);
  },
  list(
    this: FieldBuilder,
    target: Entity<TableName>,
    options: ChildOptions & { orderBy: readonly ListOrder[] },
  ) {
    const { meta, ...list } = childList(target, options);
    return planned(this, [target.ref], meta, { kind: 'list', ...list });
  },
  listOf(
    this: FieldBuilder,
    target: Entity<TableName>,
    {
      prefix,
      column,
      ...options
    }: ChildOptions & { orderBy: readonly ListOrder[]; prefix?: IdPrefix; column: string },
  ) {
    const { meta, ...list } = childList(target, options);
    return planned(this, [prefix ? 'ID' : 'String'], meta, {
      kind: 'list',
      ...list,
      singleColumn: { column, prefix },
    });
  },
  count(this: FieldBuilder, target: Entity<TableName>, options: ChildOptions & { filter: Predicate }) {
    const { key, through: join, parentKey = 'id', filter, ...meta } = options;
    const source = childSource(target, { key, through: join });
    return planned(this, 'Int', meta, { kind: 'count', source, filter, parentKey });
  },
};
Object.assign(RootFieldBuilder.prototype, helpers);
