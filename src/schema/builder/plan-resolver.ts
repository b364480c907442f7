import SchemaBuilder, {
  BasePlugin,
  type FieldRef,
  type PothosOutputFieldConfig,
  type SchemaTypes,
} from '@pothos/core';
import type { FieldNode, GraphQLFieldResolver } from 'graphql';
import type { AnyRow } from '../../db/query/any-tables.ts';
import {
  connectionOf,
  type ListDeclaration,
  type ListParent,
  pageRequest,
  type ValidatedPage,
} from '../../resolvers/connections.ts';
import { type Context, requireSignedIn } from '../../resolvers/context.ts';
import { encodeId } from '../../resolvers/ids.ts';
import { findNodes } from '../../resolvers/nodes.ts';
import { concatenatedText } from './concatenated.ts';
import type { Plan, ReferencePlan, ReferencePlans, StreamEvent } from './plan.ts';
import { RootResults } from './root-results.ts';
import { textBytes } from './text-bytes.ts';

/** The part of Pothos's field builder that the helpers use. */
export interface FieldBuilder {
  field: (options: unknown) => FieldRef<SchemaTypes, unknown>;
  arg: {
    (options: { type: unknown; description: string }): unknown;
    int: (options: { description: string }) => unknown;
    string: (options: { description: string; required?: boolean; extensions?: object }) => unknown;
  };
}

/**
 * Declares a field by a plan. The plan is stored in the field's extensions, where the compiled executor reads it; the
 * plugin below makes the `resolve` of graphql-js from it.
 */
export function planned(t: FieldBuilder, type: unknown, meta: object, plan: Plan) {
  const { extensions } = meta as { extensions?: object };
  return t.field({ ...meta, type, extensions: { ...extensions, plan } });
}

type Parent = Record<string, string | null>;
type Resolve = (
  parent: Parent,
  args: Record<string, unknown>,
  ctx: Context,
  info: { readonly path: { readonly key: string | number }; readonly fieldNodes: readonly FieldNode[] },
) => unknown;

/** The `resolve` of a field with this plan. It reads through the loaders of the request. */
function resolverOf(plan: Plan): Resolve {
  switch (plan.kind) {
    case 'id':
      return (row) => {
        const uuid = row[plan.column];
        return uuid ? encodeId(plan.prefix, uuid) : null;
      };
    case 'reference':
      return (row, _args, ctx) => loadReference(ctx, plan, row);
    case 'byKey':
      return async (_row, args, ctx) => {
        const { loaders } = requireSignedIn(ctx);
        const condition = plan.lookup(String(args[plan.argument]));
        return (condition && (await loaders.find(plan.table, { all: [plan.where, condition] }))) ?? null;
      };
    case 'connection': {
      const requests = new PageRequestCache(plan.list);
      return (row, args, ctx, { fieldNodes }) =>
        connectionOf(ctx, plan.list, listParent(plan, row), requests.get(ctx, fieldNodes, args));
    }
    case 'list':
      return async (row, _args, ctx) => {
        const rows = await requireSignedIn(ctx)
          .loaders.lists(plan.source, plan.orderBy)
          .load(String(row[plan.parentKey]));
        return plan.singleColumn ? rows.map(singleColumnReader(plan.singleColumn)) : rows;
      };
    case 'one':
      return async (row, _args, ctx) => {
        const { table, where, parent } = plan.source;
        const { loaders } = requireSignedIn(ctx);
        return (await loaders.byKey(table, parent.column, where).load(String(row[plan.parentKey]))) ?? null;
      };
    case 'exists':
      return (row, _args, ctx) => {
        const { loaders, principal } = requireSignedIn(ctx);
        const { table, keyColumn, viewerColumn } = plan;
        return loaders.exists(table, keyColumn, viewerColumn, principal.userAccountId).load(String(row.id));
      };
    case 'count':
      return (row, _args, ctx) =>
        requireSignedIn(ctx).loaders.counts(plan.source, plan.filter).load(String(row[plan.parentKey]));
    case 'sums':
      return async (row, _args, ctx) => {
        const { table, keyColumn, columns } = plan;
        return plan.compute(
          await requireSignedIn(ctx).loaders.sums(table, keyColumn, columns).load(String(row.id)),
        );
      };
    case 'computed': {
      // A plan may compute over rows of any table, so the type is lost here; the helper has checked it.
      const compute = plan.compute as (row: unknown, references: unknown, ctx: unknown) => unknown;
      return async (row, _args, ctx) =>
        compute(
          row,
          await loadReferences(ctx, plan.references, row),
          plan.usesContext ? requireSignedIn(ctx) : undefined,
        );
    }
    case 'concatenated':
      return async (row, _args, ctx) =>
        concatenatedText(plan.pieces, row, await loadReferences(ctx, plan.references, row));
    case 'nodes':
      return async (_row, args, ctx) => {
        if (plan.argument === 'ids') return findNodes(ctx, plan.kinds(), args.ids as string[], 'ids');
        const [node] = await findNodes(ctx, plan.kinds(), [args.id as string], 'id');
        return node ?? null;
      };
    case 'series':
      return (row, args, ctx) =>
        requireSignedIn(ctx)
          .loaders.batch(plan, args, (keys) => plan.load(ctx, args, keys))
          .load(String(row[plan.parentKey]));
    case 'self':
      return (row) => row;
    case 'source':
      return (parent: unknown, args, ctx, { path }) =>
        parent instanceof RootResults
          ? parent.once(path.key, () => plan.load(ctx, args))
          : plan.load(ctx, args);
    case 'events':
      // A subscription executes its selection once per event, and passes that event as the root value.
      return (root: unknown) => (root as Pick<StreamEvent, 'event'>).event;
    default:
      return plan satisfies never;
  }
}

/**
 * Caches the validated requests for pages of one list, by the context of the operation and the selection. A selection has the same
 * arguments under all of its parents, of which there may be hundreds, and a filter may be long.
 */
class PageRequestCache {
  readonly #list: ListDeclaration;
  readonly #byRun = new WeakMap<Context, Map<FieldNode | undefined, ValidatedPage>>();

  constructor(list: ListDeclaration) {
    this.#list = list;
  }

  get(run: Context, [selection]: readonly FieldNode[], args: Record<string, unknown>): ValidatedPage {
    let bySelection = this.#byRun.get(run);
    if (!bySelection) this.#byRun.set(run, (bySelection = new Map()));
    const request = bySelection.get(selection) ?? pageRequest(this.#list, args);
    bySelection.set(selection, request);
    return request;
  }
}

/** The row that a key of the parent refers to; null if there is no key or no such row. */
async function loadReference(ctx: Context, plan: ReferencePlan, parent: Parent): Promise<AnyRow | null> {
  const key = parent[plan.key];
  if (key === null || key === undefined) return null;
  return (await requireSignedIn(ctx).loaders.byKey(plan.table, plan.by, plan.where).load(key)) ?? null;
}

/** The rows that a computed field reads, by name. Rows that they refer to in turn are nested in them by name. */
async function loadReferences(ctx: Context, plans: ReferencePlans, parent: Parent): Promise<AnyRow> {
  const loaded = await Promise.all(
    Object.entries(plans).map(async ([name, plan]) => {
      const row = await loadReference(ctx, plan, parent);
      return [name, row ? { ...row, ...(await loadReferences(ctx, plan.nested, row as Parent)) } : undefined];
    }),
  );
  return Object.fromEntries(loaded);
}

function listParent({ parentKey, count }: Plan & { kind: 'connection' }, parent: Parent): ListParent {
  if (parentKey === undefined) return { key: undefined };
  const counted: unknown = count && parent[count];
  return {
    key: parent[parentKey] ?? undefined,
    count: typeof counted === 'number' ? counted : undefined,
  };
}

function singleColumnReader({ column, prefix }: NonNullable<(Plan & { kind: 'list' })['singleColumn']>) {
  return (row: AnyRow) => (prefix ? encodeId(prefix, String(row[column])) : row[column]);
}

declare global {
  // eslint-disable-next-line typescript/no-namespace -- Pothos is extended by merging into its namespace
  namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      plans: PlansPlugin<Types>;
    }
  }
}

/**
 * Gives each field with a plan its `resolve`. Scope-auth wraps it afterwards; a `resolve` that is set on the built
 * schema would bypass the check of scopes.
 */
class PlansPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(field: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const { plan } = (field.extensions ?? {}) as { plan?: Plan };
    return plan ? { ...field, resolve: resolverOf(plan) as typeof field.resolve } : field;
  }

  /** Counts the texts of the answer, which a document may repeat under any number of aliases. */
  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    { type }: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    const of = type.kind === 'List' ? type.type : type;
    if (of.kind !== 'Scalar') return resolver;
    const bytesOf = textBytes.get(this.builder.configStore.getTypeConfig(of.ref).name);
    if (!bytesOf) return resolver;
    return (parent, args, context, info) => {
      const spend = (value: unknown) => {
        (context as Context).spendText?.(bytesOf(value));
        return value;
      };
      const value: unknown = resolver(parent, args, context, info);
      return value instanceof Promise ? value.then(spend) : spend(value);
    };
  }
}

SchemaBuilder.registerPlugin('plans', PlansPlugin);
