import { type FieldNode, type GraphQLOutputType, isListType, isNonNullType } from 'graphql';
import { joinedKeys } from '../../db/derived-columns.ts';
import { keptDeclaration } from '../../db/kept-tables.ts';
import type { ChildSource, ListOrder } from '../../db/page.ts';
import { linkColumns } from '../../reference/lists.ts';
import { encodeId } from '../../resolvers/ids.ts';
import type { Plan } from '../../schema/plan.ts';
import { ListFetch, type ListPart } from './children.ts';
import type { Columns, Read } from './columns.ts';
import { type Field, type Frame, NotCompilable } from './frame.ts';
import { derivedField } from './leaves.ts';
import { ObjectPlan } from './objects.ts';
import { type AnyField, objectType, type Place, shared } from './place.ts';
import { writeList } from './json-writer.ts';

/** A plain list under each row, or one column of it. */
export function listField(
  place: Place,
  key: string,
  field: AnyField,
  nodes: readonly FieldNode[],
  { source, orderBy, parentKey, only }: Extract<Plan, { kind: 'list' }>,
): Field {
  const { plan } = place;
  const { parent } = source;
  if (!parent) throw new NotCompilable(`${place.type.name}.${field.name}`);
  const fetch = shared(place, `list ${JSON.stringify([source, orderBy, parentKey])}`, () => {
    const key = plan.columns.reader(parentKey);
    const joined = joinedReader(plan.columns, { ...source, parent }, orderBy, parentKey);
    return new ListFetch({ ...source, parent }, orderBy, { key, joined, part: plan.newPart() });
  });
  const listed = only
    ? new ObjectPlan('', fetch.columns)
    : place.reading.object(objectType(field), nodes, fetch.columns);
  const view = fetch.view(listed);
  const item = only ? onlyField(field.type, only, fetch.columns) : listed;
  const each = <Result>(frame: Frame, row: number, show: (frame: Frame, row: number) => Result): Result[] => {
    const { at, start, end, frames } = frame.parts[fetch.part] as ListPart;
    const group = at[row] ?? 0;
    const results: Result[] = [];
    for (let place = start[group] ?? 0; place < (end[group] ?? 0); place += 1)
      results.push(show(frames[view] as Frame, place));
    return results;
  };
  return {
    key,
    write: (out, frame, row) => {
      const { at, start, end, frames } = frame.parts[fetch.part] as ListPart;
      const group = at[row] ?? 0;
      const rows = frames[view] as Frame;
      writeList(out, start[group] ?? 0, end[group] ?? 0, (_out, place) => item.write(out, rows, place));
    },
    value: (frame, row) => each(frame, row, (rows, at) => item.value(rows, at)),
  };
}

/** Who is joined to each row, read with the row, where the others are kept in memory and the join is not. */
function joinedReader(
  columns: Columns,
  { table, parent }: ChildSource,
  orderBy: readonly ListOrder[],
  parentKey: string,
): Read | undefined {
  if (!columns.canDerive || !('through' in parent) || !keptDeclaration(table)) return undefined;
  const { through } = parent;
  if (keptDeclaration(through.table)) return undefined;
  return columns.derived(joinedKeys(through, parentKey, linkColumns(orderBy)));
}

function onlyField(
  type: GraphQLOutputType,
  { column, prefix }: NonNullable<Extract<Plan, { kind: 'list' }>['only']>,
  columns: Columns,
): Field {
  const read = columns.reader(column);
  return derivedField('', itemType(type), (row) => {
    const text = read(row);
    return prefix && text !== null ? encodeId(prefix, text) : text;
  });
}

function itemType(type: GraphQLOutputType): GraphQLOutputType {
  const bare = isNonNullType(type) ? type.ofType : type;
  return isListType(bare) ? (bare.ofType as GraphQLOutputType) : bare;
}
