import type { FieldMap, InputRef, InputType, ObjectRef } from '@pothos/core';
import type { Counter, Order, OrderKind, Source } from '../../db/query/walks/walk.ts';
import type { Predicate } from '../../db/query/conditions/predicate.ts';
import type { Row, TableName } from '../../db/tables/tables.ts';
import { limits } from '../../model/limits.ts';
import type { ListDeclaration } from '../../resolvers/connections.ts';
import type { FilterFields } from '../../resolvers/filters.ts';
import type { IdPrefix } from '../../resolvers/ids.ts';
import { builder, type Types } from './builder.ts';
import { SortDirection } from './enums.ts';
import {
  type FilterBuilder,
  filterBuilder,
  type FilterDeclaration,
  type InputFieldExtensions,
  type InputTypeExtensions,
} from './filters.ts';
import { type ManagersOnly, restrictToManagers } from './managers-only.ts';
import { type FieldBuilder, planned } from './plan-resolver.ts';
import { type Need, needOfField, type ScopeNeed } from './scopes.ts';

type KindOf<Value> =
  NonNullable<Value> extends Date ? 'time' : NonNullable<Value> extends number ? 'int' : 'text' | 'date';

/** A column to order by. It compiles only if its kind and its nullability are those of the row's column. */
export type OrderColumn<Of> = {
  [K in keyof Of & string]: {
    column: K;
    kind: KindOf<Of[K]> & OrderKind;
    nullable: null extends Of[K] ? true : false;
    isUnique?: Order['isUnique'];
  };
}[keyof Of & string];

interface EntityOptions<Name extends TableName> {
  table: Name;
  description: string;
  /** The noun for messages and descriptions, in singular and plural. */
  singular: string;
  plural: string;
  /** The prefix of its global ids. A type without a prefix does not implement `Node`. */
  prefix?: IdPrefix;
  /** The scope that `node(id)` and every list of the type require. */
  scope: ScopeNeed;
  /** The scope of each field that declares none; by default the same as `scope`. */
  fieldScope?: ScopeNeed;
  /**
   * Set if only owners and admins may read the rows, by any path and with any scopes. The value is what a refusal says that others
   * may not read: `the audit log`.
   */
  managersOnly?: string;
  /** The condition that a row must meet to be visible, such as not being deleted. */
  where?: Predicate;
  /** The column of another table that already counts the visible rows. */
  counter?: Counter;
  /** A condition on the parent of a row, such as that its issue is not deleted, for rows that are not read through their parent. */
  parentWhere?: Predicate;
  orders?: Readonly<Record<string, OrderColumn<Row<Name>>>>;
  /** What to say about some of the orders, besides the column. */
  orderNotes?: Readonly<Record<string, string>>;
  defaultOrder?: { field: string; direction: 'asc' | 'desc' };
  filter?: (f: FilterBuilder<Row<Name>>) => Record<string, FilterDeclaration>;
}

export type EntityFieldBuilder<Name extends TableName> = PothosSchemaTypes.ObjectFieldBuilder<
  Types,
  Row<Name>
>;

/**
 * A type whose objects are rows of one table. Its table, id prefix, orders, filter and scope are declared once;
 * connections, references and `node` take them from here.
 */
export class Entity<Name extends TableName> {
  readonly name: string;
  readonly ref: ObjectRef<Types, Row<Name>>;
  readonly options: EntityOptions<Name>;
  #filterDeclarations: Record<string, FilterDeclaration> | undefined;
  #filterFields: FilterFields | undefined;
  #filterInput: InputRef<Record<string, unknown>> | undefined;
  #orderInput: InputType<Types> | undefined;
  #connection: ObjectRef<Types, never> | undefined;

  constructor(name: string, options: EntityOptions<Name>) {
    this.name = name;
    this.options = options;
    this.ref = builder.objectRef<Row<Name>>(name);
    const wrappers = [`${name}Connection`, `${name}Edge`];
    for (const need of this.needsOfRole) restrictToManagers([name, ...wrappers], options.table, need);
  }

  get singular(): string {
    return this.options.singular;
  }

  get plural(): string {
    return this.options.plural;
  }

  /** What `node(id)` needs for an id of the type. */
  get needs(): readonly Need[] {
    return [this.options.scope, ...this.needsOfRole];
  }

  /** The role that reading the rows needs, if not every member may read them. */
  get needsOfRole(): readonly ManagersOnly[] {
    const { managersOnly } = this.options;
    return managersOnly === undefined ? [] : [{ managersOnly }];
  }

  get where(): Predicate {
    return this.options.where ?? { all: [] };
  }

  /** The condition for rows that are not read through their parent, as by `node(id)`. */
  get whereIncludingParent(): Predicate {
    const { parentWhere } = this.options;
    return parentWhere ? { all: [this.where, parentWhere] } : this.where;
  }

  /** Declares the fields of the type. A type with a prefix gets `id` and implements `Node` without declaring them. */
  implement(fields: (t: EntityFieldBuilder<Name>) => FieldMap): void {
    const { prefix, description, scope, fieldScope = scope } = this.options;
    const id = (t: EntityFieldBuilder<Name>) =>
      prefix && {
        id: planned(
          t as unknown as FieldBuilder,
          'ID',
          {
            description: `The id of the ${this.singular}: \`${prefix}_…\`, the same as in REST.`,
            scope: 'token',
          },
          { kind: 'id', prefix, column: 'id' },
        ),
      };
    builder.objectType(this.ref, {
      description,
      scope: fieldScope,
      interfaces: prefix ? [builder.nodeInterfaceRef()] : [],
      extensions: { entity: this },
      fields: (t) => ({ ...id(t as EntityFieldBuilder<Name>), ...fields(t as EntityFieldBuilder<Name>) }),
    });
  }

  /** The declaration of a connection of these rows, without its parent. */
  list(): Omit<ListDeclaration, 'source'> & { source: Source & { table: Name } } {
    const { table, counter, orders, defaultOrder } = this.options;
    if (!orders || !defaultOrder) throw new Error(`${this.name} has no orders, so there is no list of it.`);
    return {
      source: { table, where: this.where, ...(counter && { counter }) },
      orders,
      defaultOrder,
      filter: () => this.filterFields(),
      maxPageSize: limits.pageSize,
    };
  }

  filterTarget() {
    return { table: this.options.table, where: this.where, filter: () => this.filterFields() };
  }

  filterFields(): FilterFields {
    this.#filterFields ??= Object.fromEntries(
      Object.entries(this.#filters()).map(([name, declaration]) => [name, declaration.field]),
    );
    return this.#filterFields;
  }

  /**
   * The needs of all fields that a filter tests, at any depth, and the roles for the rows that it looks for. Without them, a client
   * could find out the value of a field that it may not read by filtering for one letter after another.
   */
  filterNeeds(input: Record<string, unknown>): Need[] {
    return Object.entries(input).flatMap(([name, value]) => {
      if (value === null || value === undefined) return [];
      const inputs = (Array.isArray(value) ? value : [value]) as Record<string, unknown>[];
      if (name === 'and' || name === 'or' || name === 'not')
        return inputs.flatMap((combined) => this.filterNeeds(combined));
      const declared = this.#filters()[name];
      if (!declared) throw new Error(`${this.name} has no filter ${name}.`);
      const { field, related } = declared;
      const relatedInputs = field.kind === 'through' ? [inputs[0]?.some, inputs[0]?.none] : inputs;
      const needs = related
        ? relatedInputs.flatMap((filter) => related.filterNeeds((filter ?? {}) as Record<string, unknown>))
        : [];
      return [this.#needOfFilter(name, declared), ...(related?.needsOfRole ?? []), ...needs];
    });
  }

  /** Throws if there is no field that shows what a filter tests. */
  checkFilters(): void {
    for (const [name, declared] of Object.entries(this.#filters())) this.#needOfFilter(name, declared);
  }

  #needOfFilter(name: string, { shownBy = name }: FilterDeclaration): ScopeNeed {
    return needOfField(this.name, shownBy);
  }

  /** The input object that filters these rows. A filter of another type uses it to filter by a related row. */
  filterInput(): InputRef<Record<string, unknown>> {
    if (this.#filterInput) return this.#filterInput;
    const ref = builder.inputRef<Record<string, unknown>>(`${this.name}Filter`);
    this.#filterInput = ref;
    const combines: InputFieldExtensions = { combines: true };
    ref.implement({
      description: `Filters ${this.plural}. All conditions that are set must match.`,
      extensions: { isFilter: true } satisfies InputTypeExtensions,
      fields: (t) => ({
        ...Object.fromEntries(
          Object.entries(this.#filters()).map(([name, { input, description, names, related }]) => {
            const extensions: InputFieldExtensions = { relation: related !== undefined };
            return [
              name,
              t.field({ type: input, description, extensions: { ...extensions, ...(names && { names }) } }),
            ];
          }),
        ),
        and: t.field({
          type: [ref],
          extensions: combines,
          description:
            'Matches when all of these conditions do; an empty list matches everything. `and`, `or` and `not` may be nested three levels deep, counted from the outermost filter through all relations.',
        }),
        or: t.field({
          type: [ref],
          extensions: combines,
          description: 'Matches when at least one of these conditions does. Nothing matches an empty list.',
        }),
        not: t.field({
          type: ref,
          extensions: combines,
          description: 'Matches when this condition does not.',
        }),
      }),
    });
    return ref;
  }

  orderInput(): InputType<Types> {
    if (this.#orderInput) return this.#orderInput;
    const { orders = {}, orderNotes = {} } = this.options;
    const field = builder.enumType(`${this.name}OrderField`, {
      description: `The fields that ${this.plural} can be ordered by. Rows with equal values are ordered by id.`,
      values: Object.fromEntries(
        Object.entries(orders).map(([name, { column }]) => [
          name,
          {
            value: name,
            description: `By \`${column.replace(/(Fold|Rank)$/, '')}\`. ${orderNotes[name] ?? ''}`.trimEnd(),
          },
        ]),
      ),
    });
    this.#orderInput = builder.inputRef<Record<string, unknown>>(`${this.name}Order`).implement({
      description: `An order of ${this.plural}.`,
      fields: (t) => ({
        field: t.field({ type: field, required: true, description: 'The field to order by.' }),
        direction: t.field({
          type: SortDirection,
          description: 'The direction of the order; ASC when omitted.',
        }),
      }),
    });
    return this.#orderInput;
  }

  connection(): ObjectRef<Types, never> {
    const { scope } = this.options;
    this.#connection ??= builder.connectionObject(
      {
        type: this.ref,
        name: `${this.name}Connection`,
        scope,
        description: `A page of ${this.plural}.`,
      } as never,
      { name: `${this.name}Edge`, scope, description: `A row of a page of ${this.plural}, with its cursor.` },
    ) as unknown as ObjectRef<Types, never>;
    return this.#connection;
  }

  #filters(): Record<string, FilterDeclaration> {
    this.#filterDeclarations ??=
      this.options.filter?.(filterBuilder as unknown as FilterBuilder<Row<Name>>) ?? {};
    return this.#filterDeclarations;
  }
}

/** The part of a related type that a filter uses. */
export type RelatedEntity = Pick<
  Entity<TableName>,
  'name' | 'singular' | 'plural' | 'filterInput' | 'filterTarget' | 'filterNeeds' | 'needsOfRole'
>;

/** All entities by the prefix of their ids, with which `node(id)` finds the entity of an id. */
export const entitiesByPrefix = new Map<IdPrefix, Entity<TableName>>();

/** Declares a type whose objects are rows of a table; `implement` then declares its fields. */
export function entity<Name extends TableName>(name: string, options: EntityOptions<Name>): Entity<Name> {
  const declared = new Entity(name, options);
  if (options.prefix) entitiesByPrefix.set(options.prefix, declared as unknown as Entity<TableName>);
  return declared;
}
