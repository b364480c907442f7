import { getNullableType, type GraphQLOutputType, isListType } from 'graphql';
import { linkedKeys } from '../../../db/tables/derived-columns.ts';
import { cachedDeclaration } from '../../../db/tables/cached-tables.ts';
import type { ListOrder } from '../../../db/query/pages/plain-lists.ts';
import type { ChildSource } from '../../../db/query/walks/walk.ts';
import { linkColumns } from '../../../reference/grouped-rows.ts';
import type { PlanOf } from '../../../schema/builder/plan.ts';
import type { Columns, Derivation, KeyColumn } from '../compile/columns.ts';
import { type Field, type Frame, NotCompilable } from '../run/frame.ts';
import { columnField, idField } from './leaves.ts';
import { ListFetch, type FetchedLists } from './list-fetch.ts';
import { ObjectPlan } from '../compile/objects.ts';
import {
  attachedColumn,
  type CompileContext,
  type FieldContext,
  objectType,
  sharedFetch,
} from '../compile/compile-context.ts';
import { writeList } from '../writing/sink.ts';

/** A plain list under each row, or one column of its rows. */
export function compileList(
  { context, responseName, field, nodes }: FieldContext,
  { source, orderBy, parentKey, singleColumn }: PlanOf<'list'>,
): Field {
  const { plan } = context;
  const { parent } = source;
  if (!parent) throw new NotCompilable(`${context.type.name}.${field.name}`);
  const fetch = sharedFetch(context, `list ${JSON.stringify([source, orderBy, parentKey])}`, () => {
    const key = plan.columns.key(parentKey);
    const attached = joinedColumn(context, { ...source, parent }, orderBy, parentKey);
    return new ListFetch({ ...source, parent }, orderBy, { key, attached, fetchIndex: plan.newFetchIndex() });
  });
  const listed = singleColumn
    ? new ObjectPlan('', fetch.columns)
    : context.compilation.compileObject(objectType(field), nodes, fetch.columns);
  const view = fetch.view(listed);
  const item = singleColumn ? singleColumnField(field.type, singleColumn, fetch.columns) : listed;
  const listsOf = (frame: Frame) => frame.fetched[fetch.fetchIndex] as FetchedLists;
  const frameOf = (frame: Frame) => listsOf(frame).frames[view] as Frame;
  const from = (frame: Frame, row: number) => {
    const { groupIndexes, start } = listsOf(frame);
    return start[groupIndexes[row] ?? 0] ?? 0;
  };
  const to = (frame: Frame, row: number) => {
    const { groupIndexes, end } = listsOf(frame);
    return end[groupIndexes[row] ?? 0] ?? 0;
  };
  return {
    responseName,
    write: (out, frame, row) => {
      writeList(out, frameOf(frame), from(frame, row), to(frame, row), item.write);
    },
    ...(!singleColumn && { below: { plan: listed, fields: listed.fields, frame: frameOf, from, to } }),
  };
}

/** The column of the parents with the keys of the listed rows. */
function joinedColumn(
  context: CompileContext,
  { table, parent }: ChildSource,
  orderBy: readonly ListOrder[],
  parentKey: string,
): KeyColumn | undefined {
  if (!('through' in parent)) return attachedColumn(context, table);
  const { through } = parent;
  // Derived keys help only where the listed rows are cached and the join is not.
  const isDerived = cachedDeclaration(table) !== undefined && !cachedDeclaration(through.table);
  const links = linkColumns(orderBy);
  const derive: Derivation = {
    description: JSON.stringify(['joined', through, parentKey, links]),
    sql: linkedKeys(through, parentKey, links),
  };
  return attachedColumn(context, through.table, isDerived ? derive : undefined);
}

function singleColumnField(
  listType: GraphQLOutputType,
  { column, prefix }: NonNullable<PlanOf<'list'>['singleColumn']>,
  columns: Columns,
): Field {
  const type = itemType(listType);
  return prefix ? idField('', type, prefix, column, columns) : columnField('', type, column, columns);
}

function itemType(type: GraphQLOutputType): GraphQLOutputType {
  const nullable = getNullableType(type);
  return isListType(nullable) ? nullable.ofType : nullable;
}
