import { getNamedType, isLeafType, isNonNullType } from 'graphql';
import { isLinkedToViewer } from '../../../db/tables/derived-columns.ts';
import { preloadedSums } from '../../../db/writes/preloaded.ts';
import { encodeId } from '../../../resolvers/ids.ts';
import type { PlanOf } from '../../../schema/builder/plan.ts';
import { extensionsOf } from '../../../schema/builder/output-extensions.ts';
import { CountFetch, ExistsFetch, SumsFetch } from './children.ts';
import { Columns } from '../compile/columns.ts';
import {
  argumentsOf,
  attachedColumn,
  type CompileContext,
  type FieldContext,
  objectType,
  referenceFetch,
  sharedFetch,
} from '../compile/compile-context.ts';
import { ConnectionFetch, connectionField } from '../pages/connections.ts';
import { type Field, type Frame, newFrame, NotCompilable } from '../run/frame.ts';
import { booleanField, idField, valueField } from './leaves.ts';
import { NodesFetch, nodesField } from './nodes.ts';
import type { Fetch, ObjectPlan } from '../compile/objects.ts';
import { pageFields } from '../pages/page-fields.ts';
import { linkedField, type Preload, type Target } from './references.ts';
import { EventsFetch, ByKeyFetch, SourceFetch, sourceField } from './roots.ts';
import { type Run, viewerSlot } from '../run/run.ts';
import { printedArguments } from '../compile/selection.ts';
import { SeriesFetch } from './series.ts';

// One function for each kind of plan that needs no module of its own.

/** The TypeID of a column. */
export function compileId(
  { context, responseName, field }: FieldContext,
  { column, prefix }: PlanOf<'id'>,
): Field {
  const { columns } = context.plan;
  // Cached rows belong to the tenant of the request, so they have no column for it.
  if (columns.isCached && column === 'workspaceId')
    return valueField(responseName, field.type, ({ run }) => encodeId(prefix, run.principal.workspaceId));
  return idField(responseName, field.type, prefix, column, columns);
}

/** The row that a column of the parent identifies. */
export function compileReference(selected: FieldContext, target: Target, keyColumn: string): Field {
  const { context, responseName, field } = selected;
  const fetch = referenceFetch(context, target);
  const plan = objectBelow(selected, fetch.columns);
  const fetchIndex = context.plan.newFetchIndex();
  const preloads = plan.fetches.flatMap((each) => preloadOf(context, each, keyColumn) ?? []);
  fetch.add({ key: context.plan.columns.key(keyColumn), fetchIndex, plan, preloads });
  return linkedField(responseName, !isNonNullType(field.type), fetchIndex, plan);
}

/** Sums of counters may be preloaded on the row that refers to their row, where both use the same key column. */
function preloadOf(context: CompileContext, fetch: Fetch, keyColumn: string): Preload | undefined {
  if (!(fetch instanceof SumsFetch) || fetch.keyColumn !== keyColumn) return undefined;
  const { table, fetchIndex } = fetch;
  const attached = attachedColumn(context, table);
  return attached && { fetch, fetchIndex, value: (row) => preloadedSums(table, attached.text(row)) };
}

/** The only row that refers to the parent. */
export function compileOne(selected: FieldContext, { source, parentKey }: PlanOf<'one'>): Field {
  const { table, where, parent } = source;
  return compileReference(selected, { table, by: parent.column, where }, parentKey);
}

/** The row that an argument identifies. */
export function compileByKey(selected: FieldContext, keyPlan: PlanOf<'byKey'>): Field {
  const { context, responseName, field, nodes } = selected;
  const columns = new Columns({ of: keyPlan.table });
  const plan = objectBelow(selected, columns);
  const fetchIndex = context.plan.newFetchIndex();
  const { args } = argumentsOf(field, nodes);
  context.plan.fetches.push(new ByKeyFetch({ keyPlan, args, columns, plan, fetchIndex }));
  return linkedField(responseName, !isNonNullType(field.type), fetchIndex, plan);
}

/** A connection. Equal pages of one object are read once, whatever their response names. */
export function compileConnection(
  { context, responseName, field, nodes }: FieldContext,
  { list, parentKey, count: counted }: PlanOf<'connection'>,
): Field {
  const { plan } = context;
  const { columns } = plan;
  const { fixed, args } = argumentsOf(field, nodes);
  const fetch = sharedFetch(context, `page ${field.name} ${printedArguments(nodes)}`, () => {
    const parent = parentKey === undefined ? undefined : columns.key(parentKey);
    // The counts on cached rows may be outdated.
    const count = counted === undefined || columns.isCached ? undefined : () => columns.reader(counted);
    return new ConnectionFetch({ list, key: parent, count, fetchIndex: plan.newFetchIndex(), args, fixed });
  });
  return connectionField(
    responseName,
    fetch.fetchIndex,
    pageFields(context.compilation, fetch, objectType(field), nodes),
  );
}

/** Whether a row connects the parent with the viewer. */
export function compileExists({ context, responseName, field }: FieldContext, plan: PlanOf<'exists'>): Field {
  const { plan: object } = context;
  const { table, keyColumn, viewerColumn } = plan;
  const attached = attachedColumn(context, table, {
    description: JSON.stringify(['joins viewer', table, keyColumn, viewerColumn]),
    sql: isLinkedToViewer(table, keyColumn, viewerColumn, viewerSlot),
  });
  if (attached?.index !== undefined) return booleanField(responseName, field.type, attached.index);
  const fetchIndex = object.newFetchIndex();
  object.fetches.push(new ExistsFetch(plan, object.columns.key('id'), attached?.text, fetchIndex));
  return valueField(responseName, field.type, (frame, row) => (frame.fetched[fetchIndex] as boolean[])[row]);
}

/** The number of children. */
export function compileCount(
  { context, responseName, field }: FieldContext,
  { source, filter, parentKey }: PlanOf<'count'>,
): Field {
  const { plan, type } = context;
  const { parent } = source;
  if (!parent) throw new NotCompilable(`${type.name}.${field.name}`);
  const fetchIndex = plan.newFetchIndex();
  const children = { source: { ...source, parent }, filter };
  plan.fetches.push(new CountFetch(children, plan.columns.key(parentKey), fetchIndex));
  return valueField(responseName, field.type, (frame, row) => (frame.fetched[fetchIndex] as number[])[row]);
}

/** A value that is computed from sums of counters. Fields with the same table and key share one read. */
export function compileSums(
  { context, responseName, field }: FieldContext,
  { table, keyColumn, columns, compute }: PlanOf<'sums'>,
): Field {
  const { plan } = context;
  const fetch = sharedFetch(context, `sums ${table} ${keyColumn}`, () => {
    return new SumsFetch(table, keyColumn, plan.columns.key('id'), plan.newFetchIndex());
  });
  fetch.add(columns);
  return valueField(responseName, field.type, (frame, row) =>
    compute((frame.fetched[fetch.fetchIndex] as Record<string, number>[])[row] ?? {}),
  );
}

/** The rows of any type that an argument identifies by their ids: `node` and `nodes`. */
export function compileNodes(
  { context, responseName, field, nodes }: FieldContext,
  { kinds, argument }: PlanOf<'nodes'>,
): Field {
  const { compilation, plan } = context;
  const { args } = argumentsOf(field, nodes);
  const fetchIndex = plan.newFetchIndex();
  const ids = (run: Run) => [args(run)[argument]].flat() as string[];
  plan.fetches.push(new NodesFetch({ kinds, ids, fetchIndex, compilation, nodes }));
  return nodesField(responseName, fetchIndex, argument === 'ids');
}

/** What one statement computes for all parents, such as the daily figures of each. */
export function compileSeries(selected: FieldContext, series: PlanOf<'series'>): Field {
  const { context, responseName, field, nodes } = selected;
  const { plan } = context;
  const below = objectBelow(selected, new Columns('resolved'));
  const { args } = argumentsOf(field, nodes);
  const fetchIndex = plan.newFetchIndex();
  plan.fetches.push(
    new SeriesFetch({ ...series, args, key: plan.columns.key(series.parentKey), fetchIndex, below }),
  );
  return linkedField(responseName, !isNonNullType(field.type), fetchIndex, below);
}

/** The same row under another type. */
export function compileSelf(selected: FieldContext): Field {
  const { context, responseName } = selected;
  const plan = objectBelow(selected, context.plan.columns);
  const fetchIndex = context.plan.newFetchIndex();
  context.plan.fetches.push({
    showsOnlyWritten: plan.showsOnlyWritten,
    fetch: (frame, run) => {
      const same = newFrame(run, frame.rows, frame.types);
      frame.fetched[fetchIndex] = same;
      return plan.fetch(same, run);
    },
  });
  return {
    responseName,
    write: (out, frame, row) => plan.write(out, frame.fetched[fetchIndex] as Frame, row),
    below: {
      plan,
      fields: plan.fields,
      frame: (frame) => frame.fetched[fetchIndex] as Frame,
      from: (_frame, row) => row,
      to: (_frame, row) => row + 1,
    },
  };
}

/** A root field that one resolver call answers. */
export function compileSource(selected: FieldContext, { load }: PlanOf<'source'>): Field {
  const { context, responseName, field, nodes } = selected;
  const { schema, preloads } = context.compilation;
  if (context.type !== schema.getQueryType() && context.type !== schema.getMutationType())
    throw new NotCompilable(`${context.type.name}.${field.name}`);
  const { args } = argumentsOf(field, nodes);
  const fetchIndex = context.plan.newFetchIndex();
  const isLeaf = isLeafType(getNamedType(field.type));
  const plan = isLeaf ? undefined : objectBelow(selected, new Columns('resolved'));
  const { waits } = extensionsOf(field);
  if (waits) context.plan.mayWait = true;
  context.plan.fetches.push(new SourceFetch({ responseName, load, args, waits, fetchIndex, plan, preloads }));
  return sourceField(responseName, field.type, fetchIndex, plan);
}

/** The event of a subscription, which is the root of each of its answers. */
export function compileEvents(selected: FieldContext): Field {
  const { context, responseName, field } = selected;
  const below = objectBelow(selected, new Columns('resolved'));
  const fetchIndex = context.plan.newFetchIndex();
  context.plan.fetches.push(new EventsFetch(fetchIndex, below));
  return linkedField(responseName, !isNonNullType(field.type), fetchIndex, below);
}

function objectBelow({ context, field, nodes }: FieldContext, columns: Columns): ObjectPlan {
  return context.compilation.compileObject(objectType(field), nodes, columns);
}
