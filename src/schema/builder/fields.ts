import {
  type InputFieldMap,
  type InputShapeFromFields,
  RootFieldBuilder,
  type SchemaTypes,
} from '@pothos/core';
import type { Predicate } from '../../db/query/conditions/predicate.ts';
import type { Row, TableName } from '../../db/tables/tables.ts';
import type { PageTest } from '../../reference/page-test.ts';
import type { Context, SignedIn } from '../../resolvers/context.ts';
import type { IdPrefix } from '../../resolvers/ids.ts';
import type { Entity } from './entity.ts';
import { naming } from './naming.ts';
import type { Piece } from './concatenated.ts';
import type { DeclaredExtensions } from './output-extensions.ts';
import type { EventPage, EventsPlan, Plan } from './plan.ts';
import { type FieldBuilder, planned } from './plan-resolver.ts';
import type { ScopeNeed } from './scopes.ts';
import {
  type AnyReferences,
  type ReferenceDeclarations,
  type ReferredRows,
  referencePlan,
  referencePlans,
} from './references.ts';

/** The options that all kinds of fields have. */
export interface FieldMeta {
  description: string;
  scope?: ScopeNeed;
  deprecationReason?: string;
}

/** The field of a nullable column must be declared nullable. */
type Nullness<Value> = null extends Value ? { nullable: true } : { nullable?: boolean };
export type TextColumn<Parent> = {
  [K in keyof Parent]: Parent[K] extends string | null ? K : never;
}[keyof Parent] &
  string;

interface ComputedOptions<Parent, Column extends keyof Parent, References, Type, Ctx> extends FieldMeta {
  type: Type;
  nullable?: boolean;
  columns: readonly Column[];
  extensions?: DeclaredExtensions;
  references?: References;
  compute: (row: Pick<Parent, Column>, references: ReferredRows<References>, ctx: Ctx) => unknown;
}

declare global {
  // eslint-disable-next-line typescript/no-namespace -- Pothos is extended by merging into its namespace
  namespace PothosSchemaTypes {
    interface RootFieldBuilder<Types extends SchemaTypes, ParentShape> {
      /** The TypeID of a uuid column. Unlike the object that it identifies, it costs no further row. */
      idOf<Key extends TextColumn<ParentShape>>(
        prefix: IdPrefix,
        key: Key,
        options: FieldMeta & Nullness<ParentShape[Key]>,
      ): FieldRef<Types, unknown>;
      /**
       * The row that a column of the parent refers to. `checksParent` is set if the row may be hidden because its own parent is deleted,
       * as the comment that a change is about may be hidden because its issue is.
       */
      reference<Name extends TableName, Key extends TextColumn<ParentShape>>(
        target: Entity<Name>,
        key: Key,
        options: FieldMeta & { by?: 'id' | 'userAccountId'; checksParent?: boolean } & Nullness<
            ParentShape[Key]
          >,
      ): FieldRef<Types, unknown>;
      /** The only row of another type that refers to the parent, if there is one. */
      one<Name extends TableName>(
        target: Entity<Name>,
        options: FieldMeta & { key: TextColumn<Row<Name>>; flag?: keyof Row<Name> & string },
      ): FieldRef<Types, unknown>;
      /** Whether there is a row with the parent's id and the viewer's account. */
      exists<Name extends TableName>(
        table: Name,
        options: FieldMeta & { key: TextColumn<Row<Name>>; viewer: TextColumn<Row<Name>> },
      ): FieldRef<Types, unknown>;
      /** A value computed from the sums of the parent's counter slots. */
      sums<Name extends TableName, Column extends keyof Row<Name> & string>(
        table: Name,
        options: FieldMeta & {
          key: TextColumn<Row<Name>>;
          columns: readonly Column[];
          compute: (sums: Record<Column, number>) => number;
        },
      ): FieldRef<Types, unknown>;
      /** A value computed from columns of the parent and of rows that it refers to. */
      computed<Column extends keyof ParentShape, References extends AnyReferences<ParentShape>, Type>(
        options: ComputedOptions<ParentShape, Column, References, Type, undefined>,
      ): FieldRef<Types, unknown>;
      /** A computed value that also depends on the principal or the time of the request. */
      computedForViewer<
        Column extends keyof ParentShape,
        References extends AnyReferences<ParentShape>,
        Type,
      >(options: ComputedOptions<ParentShape, Column, References, Type, SignedIn>): FieldRef<Types, unknown>;
      /** A text concatenated from literals, columns of the parent and columns of rows that it refers to. */
      concatenated<References extends AnyReferences<ParentShape>>(
        options: FieldMeta & {
          type: 'String' | 'URL';
          references: References;
          pieces: readonly Piece<ParentShape, References>[];
        },
      ): FieldRef<Types, unknown>;
      /** The row of the workspace that an argument identifies, or null. */
      byKey<Name extends TableName>(
        target: Entity<Name>,
        options: FieldMeta & {
          argument: string;
          argumentDescription: string;
          lookup: (value: string) => Predicate | undefined;
        },
      ): FieldRef<Types, unknown>;
      /** The same row as another type, which groups some of its fields. */
      self<Type>(options: FieldMeta & { type: Type }): FieldRef<Types, unknown>;
      /** An object for each parent, which one call of a resolver makes for the keys of all parents. */
      series<Type, Key extends TextColumn<ParentShape>, Args extends InputFieldMap>(
        options: FieldMeta & {
          type: Type;
          key: Key;
          args: Args;
          extensions?: DeclaredExtensions;
          load: (
            ctx: Context,
            args: InputShapeFromFields<Args>,
            keys: readonly string[],
          ) => Promise<readonly object[]>;
        },
      ): FieldRef<Types, unknown>;
      /** Rows or a value that one call of a resolver returns. The fields of these rows are read as declared. */
      source<Type, Args extends InputFieldMap = Record<never, never>>(
        options: FieldMeta & {
          type: Type;
          nullable?: boolean;
          args?: Args;
          extensions?: DeclaredExtensions;
          load: (ctx: Context, args: InputShapeFromFields<Args>) => unknown;
        },
      ): FieldRef<Types, unknown>;
      /** The events of a subscription: `read` returns those after a cursor; `pageTest` makes a cheap test whether there may be any. */
      events<Type, Args extends InputFieldMap>(
        options: FieldMeta & {
          type: Type;
          /** For a field whose pages may be resets, which show it as null. */
          nullable?: boolean;
          args: Args;
          extensions?: DeclaredExtensions;
          read: (ctx: Context, args: InputShapeFromFields<Args>, after: string) => Promise<EventPage>;
          pageTest: (ctx: Context, args: InputShapeFromFields<Args>) => PageTest | undefined;
        },
      ): FieldRef<Types, unknown>;
    }
  }
}

type ComputedArguments = FieldMeta & {
  type: unknown;
  columns: readonly string[];
  references?: ReferenceDeclarations;
  compute: (row: unknown, references: unknown, ctx: unknown) => unknown;
};

function computed(
  t: FieldBuilder,
  { type, columns, references = {}, compute, ...meta }: ComputedArguments,
  usesContext: boolean,
) {
  const plans = referencePlans(references);
  return planned(t, type, meta, { kind: 'computed', columns, references: plans, usesContext, compute });
}

const helpers = {
  idOf(this: FieldBuilder, prefix: IdPrefix, column: string, meta: FieldMeta) {
    return planned(this, 'ID', meta, { kind: 'id', prefix, column });
  },
  reference(
    this: FieldBuilder,
    target: Entity<TableName>,
    key: string,
    { by = 'id', checksParent = false, ...meta }: FieldMeta & { by?: string; checksParent?: boolean },
  ) {
    const where = checksParent ? target.whereIncludingParent : target.where;
    return planned(this, target.ref, meta, { kind: 'reference', ...referencePlan(target, key, by, where) });
  },
  one(
    this: FieldBuilder,
    target: Entity<TableName>,
    { key, flag, ...meta }: FieldMeta & { key: string; flag?: string },
  ) {
    const where = flag
      ? { all: [target.where, { column: flag, is: 'eq' as const, value: true }] }
      : target.where;
    const source = { table: target.options.table, where, parent: { column: key } };
    return planned(this, target.ref, { nullable: true, ...meta }, { kind: 'one', source, parentKey: 'id' });
  },
  exists(
    this: FieldBuilder,
    table: TableName,
    { key, viewer, ...meta }: FieldMeta & { key: string; viewer: string },
  ) {
    return planned(this, 'Boolean', meta, { kind: 'exists', table, keyColumn: key, viewerColumn: viewer });
  },
  sums(
    this: FieldBuilder,
    table: TableName,
    options: FieldMeta & {
      key: string;
      columns: string[];
      compute: (sums: Record<string, number>) => number;
    },
  ) {
    const { key, columns, compute, ...meta } = options;
    return planned(this, 'Int', meta, { kind: 'sums', table, keyColumn: key, columns, compute });
  },
  computed(this: FieldBuilder, options: ComputedArguments) {
    return computed(this, options, false);
  },
  computedForViewer(this: FieldBuilder, options: ComputedArguments) {
    return computed(this, options, true);
  },
  concatenated(
    this: FieldBuilder,
    {
      type,
      pieces,
      references,
      ...meta
    }: FieldMeta & { type: string; pieces: Piece[]; references: ReferenceDeclarations },
  ) {
    const plans = referencePlans(references);
    return planned(this, type, meta, { kind: 'concatenated', pieces, references: plans });
  },
  byKey(
    this: FieldBuilder,
    target: Entity<TableName>,
    options: FieldMeta & {
      argument: string;
      argumentDescription: string;
      lookup: (value: string) => Predicate | undefined;
    },
  ) {
    const { argument, argumentDescription, lookup, ...meta } = options;
    const { table } = target.options;
    const args = {
      [argument]: this.arg.string({
        required: true,
        description: argumentDescription,
        extensions: naming('key', target.options.prefix),
      }),
    };
    const plan: Plan = { kind: 'byKey', table, where: target.where, argument, lookup };
    return planned(this, target.ref, { nullable: true, args, ...meta }, plan);
  },
  self(this: FieldBuilder, { type, ...meta }: FieldMeta & { type: unknown }) {
    return planned(this, type, meta, { kind: 'self' });
  },
  series(
    this: FieldBuilder,
    {
      type,
      key,
      load,
      ...meta
    }: FieldMeta & { type: unknown; key: string; load: (Plan & { kind: 'series' })['load'] },
  ) {
    return planned(this, type, meta, { kind: 'series', parentKey: key, load });
  },
  source(
    this: FieldBuilder,
    { type, load, ...meta }: FieldMeta & { type: unknown; load: (ctx: Context, args: unknown) => unknown },
  ) {
    return planned(this, type, meta, { kind: 'source', load });
  },
  events(
    this: FieldBuilder,
    {
      type,
      read,
      pageTest,
      ...meta
    }: FieldMeta & { type: unknown; nullable?: boolean } & Omit<EventsPlan, 'kind'>,
  ) {
    return planned(this, type, meta, { kind: 'events', read, pageTest });
  },
};
Object.assign(RootFieldBuilder.prototype, helpers);
