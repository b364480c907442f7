import { type FieldNode, getNamedType, type GraphQLObjectType, isObjectType } from 'graphql';
import {
  type ConnectionFetch,
  type ConnectionPart,
  type PageField,
  pageList,
  pageObject,
  pageValue,
} from './connections.ts';
import { type Frame, NotCompilable } from './frame.ts';

import { type Compiling, collectFields } from './selection.ts';
import { headsOf, type JsonWriter } from './json-writer.ts';

/** The selection on a connection: its rows with or without their cursors, where the page stands, and the count. */
export function pageFields(
  reading: Compiling,
  fetch: ConnectionFetch,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): PageField[] {
  return [...collectFields(reading, type, nodes)].map(([key, fields]) => {
    const name = nameOf(fields);
    if (name === '__typename') return pageValue(key, () => type.name);
    if (name === 'totalCount') {
      fetch.showCount();
      return pageValue(key, ({ counts }, group) => counts[group] ?? 0);
    }
    fetch.showPage();
    const of = fieldType(type, name);
    if (name === 'nodes') return rowList(reading, fetch, of, key, fields);
    if (name === 'edges') return edgeList(reading, fetch, of, key, fields);
    return pageObject(key, pageInfoFields(reading, fetch, of, fields));
  });
}

function nameOf([field]: readonly FieldNode[]): string {
  return field?.name.value ?? '';
}

function fieldType(type: GraphQLObjectType, name: string): GraphQLObjectType {
  const field = type.getFields()[name];
  const of = field && getNamedType(field.type);
  if (!isObjectType(of)) throw new NotCompilable(`${type.name}.${name}`);
  return of;
}

function rowList(
  reading: Compiling,
  fetch: ConnectionFetch,
  type: GraphQLObjectType,
  key: string,
  nodes: readonly FieldNode[],
): PageField {
  const row = rowView(reading, fetch, type, nodes);
  return pageList(key, row);
}

/** What a selection shows of each row of the pages. */
function rowView(
  reading: Compiling,
  fetch: ConnectionFetch,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
) {
  const plan = reading.object(type, nodes, fetch.columns);
  const view = fetch.view(plan);
  return {
    write: (out: JsonWriter, { frames }: ConnectionPart, row: number) =>
      plan.write(out, frames[view] as Frame, row),
    value: ({ frames }: ConnectionPart, row: number): unknown => plan.value(frames[view] as Frame, row),
  };
}

interface EdgeField {
  key: string;
  write(out: JsonWriter, part: ConnectionPart, row: number): void;
  value(part: ConnectionPart, row: number): unknown;
}

function edgeList(
  reading: Compiling,
  fetch: ConnectionFetch,
  type: GraphQLObjectType,
  key: string,
  nodes: readonly FieldNode[],
): PageField {
  const fields = [...collectFields(reading, type, nodes)].map(([name, selected]): EdgeField => {
    const field = nameOf(selected);
    if (field === 'node') return { key: name, ...rowView(reading, fetch, fieldType(type, field), selected) };
    const value = field === 'cursor' ? fetch.cursor() : () => type.name;
    return { key: name, value, write: (out, part, row) => out.string(value(part, row)) };
  });
  const heads = headsOf(fields);
  return pageList(key, {
    write: (out, part, row) => {
      for (let place = 0; place < fields.length; place += 1) {
        out.bytes(heads[place] as Uint8Array);
        (fields[place] as EdgeField).write(out, part, row);
      }
      out.endObject(fields.length);
    },
    value: (part, row) => Object.fromEntries(fields.map((field) => [field.key, field.value(part, row)])),
  });
}

function pageInfoFields(
  reading: Compiling,
  fetch: ConnectionFetch,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): PageField[] {
  return [...collectFields(reading, type, nodes)].map(([key, selected]) => {
    switch (nameOf(selected)) {
      case '__typename':
        return pageValue(key, () => type.name);
      case 'hasNextPage':
        fetch.showMore();
        return pageValue(key, ({ walked: { request }, more }, group) =>
          request.backward ? request.before !== undefined : more[group],
        );
      case 'hasPreviousPage':
        fetch.showMore();
        return pageValue(key, ({ walked: { request }, more }, group) =>
          request.backward ? more[group] : request.after !== undefined,
        );
      case 'startCursor':
        return cursorValue(fetch, key, ({ start }, group) => start[group] ?? 0);
      case 'endCursor':
        return cursorValue(fetch, key, ({ end }, group) => (end[group] ?? 0) - 1);
      default:
        throw new NotCompilable(`${type.name}.${nameOf(selected)}`);
    }
  });
}

function cursorValue(
  fetch: ConnectionFetch,
  key: string,
  rowAt: (part: ConnectionPart, group: number) => number,
): PageField {
  const cursor = fetch.cursor();
  return pageValue(key, (part, group) => {
    const isEmpty = part.start[group] === part.end[group];
    return isEmpty ? null : cursor(part, rowAt(part, group));
  });
}
