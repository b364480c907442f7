import { type FieldNode, type GraphQLOutputType, isListType, isNonNullType } from 'graphql';
import { joinedKeys } from '../../db/tables/derived-columns.ts';
import { cachedDeclaration } from '../../db/tables/cached-tables.ts';
import type { ChildSource, ListOrder } from '../../db/query/page.ts';
import { linkColumns } from '../../reference/lists.ts';
import type { Plan } from '../../schema/builder/plan.ts';
import type { Columns, KeyColumn } from './columns.ts';
import { type Field, type Frame, NotCompilable } from './frame.ts';
import { columnField, idField } from './leaves.ts';
import { ListFetch, type ListPart } from './list-fetch.ts';
import { ObjectPlan } from './objects.ts';
import { type AnyField, objectType, type CompileContext, shared } from './compile-context.ts';
import type { Compiling } from './selection.ts';
import { writeList } from './sink.ts';

/** A plain list under each row, or one column of it. */
export function listField(
  context: CompileContext,
  key: string,
  field: AnyField,
  nodes: readonly FieldNode[],
  { source, orderBy, parentKey, only }: Extract<Plan, { kind: 'list' }>,
): Field {
  const { plan } = context;
  const { parent } = source;
  if (!parent) throw new NotCompilable(`${context.type.name}.${field.name}`);
  const fetch = shared(context, `list ${JSON.stringify([source, orderBy, parentKey])}`, () => {
    const key = plan.columns.key(parentKey);
    const joined = joinedColumn(context.reading, plan.columns, { ...source, parent }, orderBy, parentKey);
    return new ListFetch({ ...source, parent }, orderBy, { key, joined, part: plan.newPart() });
  });
  const listed = only
    ? new ObjectPlan('', fetch.columns)
    : context.reading.object(objectType(field), nodes, fetch.columns);
  const view = fetch.view(listed);
  const item = only ? onlyField(field.type, only, fetch.columns) : listed;
  return {
    key,
    write: (out, frame, row) => {
      const { at, start, end, frames } = frame.parts[fetch.part] as ListPart;
      const group = at[row] ?? 0;
      const rows = frames[view] as Frame;
      writeList(out, start[group] ?? 0, end[group] ?? 0, (place) => item.write(out, rows, place));
    },
  };
}

/**
 * What says who is joined to each row, read with the row, where the others are cached in memory and the join is not; of
 * rows that a write gave, what it told.
 */
function joinedColumn(
  { shown }: Compiling,
  columns: Columns,
  { table, parent }: ChildSource,
  orderBy: readonly ListOrder[],
  parentKey: string,
): KeyColumn | undefined {
  const joins = 'through' in parent ? parent.through.table : table;
  if (columns.given) {
    shown.add(joins);
    return columns.beside(joins);
  }
  if (!columns.canDerive || !('through' in parent) || !cachedDeclaration(table)) return undefined;
  const { through } = parent;
  if (cachedDeclaration(through.table)) return undefined;
  const links = linkColumns(orderBy);
  return columns.derived(
    JSON.stringify(['joined', through, parentKey, links]),
    joinedKeys(through, parentKey, links),
  );
}

function onlyField(
  listType: GraphQLOutputType,
  { column, prefix }: NonNullable<Extract<Plan, { kind: 'list' }>['only']>,
  columns: Columns,
): Field {
  const type = itemType(listType);
  return prefix ? idField('', type, prefix, column, columns) : columnField('', type, column, columns);
}

function itemType(type: GraphQLOutputType): GraphQLOutputType {
  const bare = isNonNullType(type) ? type.ofType : type;
  return isListType(bare) ? (bare.ofType as GraphQLOutputType) : bare;
}
