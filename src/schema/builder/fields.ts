import {
  type FieldRef,
  type InputFieldMap,
  type InputShapeFromFields,
  RootFieldBuilder,
  type SchemaTypes,
} from '@pothos/core';
import type { AnyRow } from '../../db/query/any-tables.ts';
import type { Predicate } from '../../db/query/predicate.ts';
import type { Row, TableName } from '../../db/tables/tables.ts';
import { type Context, type SignedIn, signedIn } from '../../resolvers/context.ts';
import { encodeId, type IdPrefix } from '../../resolvers/ids.ts';
import type { Entity } from './entity.ts';
import { naming } from './naming.ts';
import { joinedText, type Piece } from './concatenated.ts';
import type { Plan, ReferencePlan, ReferencePlans } from './plan.ts';
import { RootResults } from './root-results.ts';
import type { ScopeNeed } from './scopes.ts';
import { type AnyReferences, type Needs, type Referred, referencePlan, referencePlans } from './via.ts';

/** What every field says of itself. */
export interface FieldMeta {
  description: string;
  scope?: ScopeNeed;
  deprecationReason?: string;
}

/** Nullability follows the column: who reads a nullable one must say so. */
type Nullness<Value> = null extends Value ? { nullable: true } : { nullable?: boolean };
export type TextColumn<Parent> = {
  [K in keyof Parent]: Parent[K] extends string | null ? K : never;
}[keyof Parent] &
  string;

interface ComputedOptions<Parent, Column extends keyof Parent, References, Type, Ctx> extends FieldMeta {
  type: Type;
  nullable?: boolean;
  columns: readonly Column[];
  references?: References;
  compute: (row: Pick<Parent, Column>, references: Referred<References>, ctx: Ctx) => unknown;
}

declare global {
  // eslint-disable-next-line typescript/no-namespace -- Pothos is extended by merging into its namespace
  namespace PothosSchemaTypes {
    interface RootFieldBuilder<Types extends SchemaTypes, ParentShape> {
      /** The TypeID of a uuid column: free where the object beside it would be a row more. */
      idOf<Key extends TextColumn<ParentShape>>(
        prefix: IdPrefix,
        key: Key,
        options: FieldMeta & Nullness<ParentShape[Key]>,
      ): FieldRef<Types, unknown>;
      /** The row that a column of the parent names. */
      reference<Name extends TableName, Key extends TextColumn<ParentShape>>(
        target: Entity<Name>,
        key: Key,
        options: FieldMeta & { by?: 'id' | 'userAccountId' } & Nullness<ParentShape[Key]>,
      ): FieldRef<Types, unknown>;
      /** The only row of another type that names the parent, if there is one. */
      one<Name extends TableName>(
        target: Entity<Name>,
        options: FieldMeta & { key: TextColumn<Row<Name>>; flag?: keyof Row<Name> & string },
      ): FieldRef<Types, unknown>;
      /** Is there a row that joins the parent to the viewer. */
      exists<Name extends TableName>(
        table: Name,
        options: FieldMeta & { key: TextColumn<Row<Name>>; viewer: TextColumn<Row<Name>> },
      ): FieldRef<Types, unknown>;
      /** A value made of the sums of the parent's counter slots. */
      sums<Name extends TableName, Column extends keyof Row<Name> & string>(
        table: Name,
        options: FieldMeta & {
          key: TextColumn<Row<Name>>;
          columns: readonly Column[];
          compute: (sums: Record<Column, number>) => number;
        },
      ): FieldRef<Types, unknown>;
      /** A value made of columns of the parent and of rows that it refers to. */
      computed<Column extends keyof ParentShape, References extends AnyReferences<ParentShape>, Type>(
        options: ComputedOptions<ParentShape, Column, References, Type, undefined>,
      ): FieldRef<Types, unknown>;
      /** A computed value that also depends on who asks and when. */
      computedForViewer<
        Column extends keyof ParentShape,
        References extends AnyReferences<ParentShape>,
        Type,
      >(options: ComputedOptions<ParentShape, Column, References, Type, SignedIn>): FieldRef<Types, unknown>;
      /** A text put together from texts, columns of the parent and columns of rows that it refers to, as they are. */
      joined<References extends AnyReferences<ParentShape>>(
        options: FieldMeta & {
          type: 'String' | 'URL';
          references: References;
          pieces: readonly Piece<ParentShape, References>[];
        },
      ): FieldRef<Types, unknown>;
      /** One row of the workspace, by what an argument says; null when that names nothing. */
      byKey<Name extends TableName>(
        target: Entity<Name>,
        options: FieldMeta & {
          argument: string;
          argumentDescription: string;
          lookup: (value: string) => Predicate | undefined;
        },
      ): FieldRef<Types, unknown>;
      /** The row itself under another type, whose fields are about a part of it. */
      self<Type>(options: FieldMeta & { type: Type }): FieldRef<Types, unknown>;
      /** Rows or a value from one resolver call; the fields below go on as declared. */
      source<Type, Args extends InputFieldMap = Record<never, never>>(
        options: FieldMeta & {
          type: Type;
          nullable?: boolean;
          args?: Args;
          extensions?: Readonly<Record<string, unknown>>;
          load: (ctx: Context, args: InputShapeFromFields<Args>, parent: ParentShape) => unknown;
        },
      ): FieldRef<Types, unknown>;
    }
  }
}

/** What a helper uses of Pothos's field builder. */
export interface Fields {
  field: (options: unknown) => FieldRef<SchemaTypes, unknown>;
  arg: {
    (options: { type: unknown; description: string }): unknown;
    int: (options: { description: string }) => unknown;
    string: (options: { description: string; required?: boolean; extensions?: object }) => unknown;
  };
}
type Parent = Record<string, string | null>;
/** A field with its plan in its extensions, and the same thing as a `resolve` over loaders. */
function planned(
  fields: Fields,
  type: unknown,
  meta: object,
  plan: Plan,
  resolve: (
    parent: Parent,
    args: Record<string, never>,
    ctx: Context,
    info: { readonly path: { readonly key: string | number } },
  ) => unknown,
) {
  const { extensions } = meta as { extensions?: object };
  return fields.field({ ...meta, type, extensions: { ...extensions, plan }, resolve });
}

/** The row behind a key of the parent; null when there is no key or no such row. */
async function loadReference(ctx: Context, plan: ReferencePlan, parent: Parent): Promise<AnyRow | null> {
  const key = parent[plan.key];
  if (key === null || key === undefined) return null;
  return (await signedIn(ctx).loaders.byKey(plan.table, plan.by, plan.where).load(key)) ?? null;
}

type ComputedArguments = FieldMeta & {
  type: unknown;
  columns: readonly string[];
  references?: Needs;
  compute: (row: unknown, references: unknown, ctx: unknown) => unknown;
};

/** The rows that a computed field reads, each with those beyond it under their names. */
async function loadReferences(ctx: Context, plans: ReferencePlans, parent: Parent): Promise<AnyRow> {
  const loaded = await Promise.all(
    Object.entries(plans).map(async ([name, plan]) => {
      const row = await loadReference(ctx, plan, parent);
      return [name, row ? { ...row, ...(await loadReferences(ctx, plan.nested, row as Parent)) } : undefined];
    }),
  );
  return Object.fromEntries(loaded);
}

function computed(
  fields: Fields,
  { type, columns, references = {}, compute, ...meta }: ComputedArguments,
  context: boolean,
) {
  const plans = referencePlans(references);
  const plan: Plan = { kind: 'computed', columns, references: plans, context, compute };
  return planned(fields, type, meta, plan, async (row, _args, ctx) =>
    compute(row, await loadReferences(ctx, plans, row), context ? signedIn(ctx) : undefined),
  );
}

const helpers = {
  idOf(this: Fields, prefix: IdPrefix, column: string, meta: FieldMeta) {
    return planned(this, 'ID', meta, { kind: 'id', prefix, column }, (row) => {
      const uuid = row[column];
      return uuid ? encodeId(prefix, uuid) : null;
    });
  },
  reference(
    this: Fields,
    target: Entity<TableName>,
    key: string,
    { by = 'id', ...meta }: FieldMeta & { by?: string },
  ) {
    const plan = referencePlan(target, key, by);
    return planned(this, target.ref, meta, { kind: 'reference', ...plan }, (row, _args, ctx) =>
      loadReference(ctx, plan, row),
    );
  },
  one(
    this: Fields,
    target: Entity<TableName>,
    { key, flag, ...meta }: FieldMeta & { key: string; flag?: string },
  ) {
    const where = flag
      ? { all: [target.where, { column: flag, is: 'eq' as const, value: true }] }
      : target.where;
    const source = { table: target.options.table, where, parent: { column: key } };
    const plan: Plan = { kind: 'one', source, parentKey: 'id' };
    return planned(
      this,
      target.ref,
      { nullable: true, ...meta },
      plan,
      async (row, _args, ctx) =>
        (await signedIn(ctx).loaders.byKey(source.table, key, where).load(String(row.id))) ?? null,
    );
  },
  exists(
    this: Fields,
    table: TableName,
    { key, viewer, ...meta }: FieldMeta & { key: string; viewer: string },
  ) {
    const plan: Plan = { kind: 'exists', table, keyColumn: key, viewerColumn: viewer };
    return planned(this, 'Boolean', meta, plan, (row, _args, ctx) => {
      const { loaders, principal } = signedIn(ctx);
      return loaders.exists(table, key, viewer, principal.userAccountId).load(String(row.id));
    });
  },
  sums(
    this: Fields,
    table: TableName,
    options: FieldMeta & {
      key: string;
      columns: string[];
      compute: (sums: Record<string, number>) => number;
    },
  ) {
    const { key, columns, compute, ...meta } = options;
    const plan: Plan = { kind: 'sums', table, keyColumn: key, columns, compute };
    return planned(this, 'Int', meta, plan, async (row, _args, ctx) =>
      compute(await signedIn(ctx).loaders.sums(table, key, columns).load(String(row.id))),
    );
  },
  computed(this: Fields, options: ComputedArguments) {
    return computed(this, options, false);
  },
  computedForViewer(this: Fields, options: ComputedArguments) {
    return computed(this, options, true);
  },
  joined(
    this: Fields,
    { type, pieces, references, ...meta }: FieldMeta & { type: string; pieces: Piece[]; references: Needs },
  ) {
    const plans = referencePlans(references);
    return planned(this, type, meta, { kind: 'joined', pieces, references: plans }, async (row, _args, ctx) =>
      joinedText(pieces, row, await loadReferences(ctx, plans, row)),
    );
  },
  byKey(
    this: Fields,
    target: Entity<TableName>,
    options: FieldMeta & {
      argument: string;
      argumentDescription: string;
      lookup: (value: string) => Predicate | undefined;
    },
  ) {
    const { argument, argumentDescription, lookup, ...meta } = options;
    const { table } = target.options;
    const plan: Plan = { kind: 'byKey', table, where: target.where, argument, lookup };
    const args = {
      [argument]: this.arg.string({
        required: true,
        description: argumentDescription,
        extensions: naming('key', target.options.prefix),
      }),
    };
    return planned(this, target.ref, { nullable: true, args, ...meta }, plan, async (_row, given, ctx) => {
      const { loaders } = signedIn(ctx);
      const named = lookup(String(given[argument]));
      return (named && (await loaders.find(table, { all: [target.where, named] }))) ?? null;
    });
  },
  self(this: Fields, { type, ...meta }: FieldMeta & { type: unknown }) {
    return planned(this, type, meta, { kind: 'self' }, (row) => row);
  },
  source(
    this: Fields,
    {
      type,
      load,
      ...meta
    }: FieldMeta & { type: unknown; load: (ctx: Context, args: unknown, parent: unknown) => unknown },
  ) {
    const plan: Plan = { kind: 'source', load };
    return planned(this, type, meta, plan, (parent: unknown, args, ctx, { path }) =>
      parent instanceof RootResults
        ? parent.once(path.key, () => load(ctx, args, undefined))
        : load(ctx, args, parent),
    );
  },
};
Object.assign(RootFieldBuilder.prototype, helpers);
