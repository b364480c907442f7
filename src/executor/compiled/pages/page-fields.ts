import { type FieldNode, getNamedType, type GraphQLObjectType, isObjectType } from 'graphql';
import {
  type ConnectionFetch,
  type FetchedPages,
  type PageField,
  pageList,
  pageObject,
  type PageRows,
  type WriteFromPages,
} from './connections.ts';
import { cursorAt } from '../../../resolvers/cursors.ts';
import { type Frame, NotCompilable } from '../run/frame.ts';
import { type Compilation, collectFields } from '../compile/selection.ts';
import { literalOf } from '../writing/sink.ts';

/** The fields of a connection: its rows, with or without cursors, `pageInfo` and the count. */
export function pageFields(
  compilation: Compilation,
  fetch: ConnectionFetch,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): PageField[] {
  return [...collectFields(compilation, type, nodes)].map(([responseName, fields]) => {
    const name = nameOf(fields);
    if (name === '__typename') return { responseName, write: typeName(type) };
    if (name === 'totalCount') {
      fetch.showCount();
      return { responseName, write: (out, { totals }, group) => out.integer(totals[group]?.count ?? 0) };
    }
    if (name === 'totalCountIsExact') {
      fetch.showCount();
      return { responseName, write: (out, { totals }, group) => out.boolean(totals[group]?.isExact ?? true) };
    }
    fetch.showRows();
    const of = fieldType(type, name);
    if (name === 'nodes') {
      const rows = pageRows(compilation, fetch, of, fields);
      return { responseName, rows, write: pageList(rowWriter(rows)) };
    }
    if (name === 'edges')
      return { responseName, write: pageList(edgeWriter(compilation, fetch, of, fields)) };
    return { responseName, write: pageObject(pageInfoFields(compilation, fetch, of, fields)) };
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

function typeName({ name }: GraphQLObjectType): WriteFromPages {
  const literal = literalOf(name);
  return (out) => out.literal(literal);
}

function pageRows(
  compilation: Compilation,
  fetch: ConnectionFetch,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): PageRows {
  const plan = compilation.compileObject(type, nodes, fetch.columns);
  return { plan, view: fetch.view(plan) };
}

/** Writes a selection on one row of a page. */
function rowWriter({ plan, view }: PageRows): WriteFromPages {
  return (out, { frames }, row) => plan.write(out, frames[view] as Frame, row);
}

function edgeWriter(
  compilation: Compilation,
  fetch: ConnectionFetch,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): WriteFromPages {
  const fields = [...collectFields(compilation, type, nodes)].map(([responseName, selected]): PageField => {
    const field = nameOf(selected);
    if (field === 'node')
      return {
        responseName,
        write: rowWriter(pageRows(compilation, fetch, fieldType(type, field), selected)),
      };
    if (field !== 'cursor') return { responseName, write: typeName(type) };
    const cursor = fetch.cursor();
    return { responseName, write: (out, pages, row) => out.string(cursor(pages, row)) };
  });
  return pageObject(fields);
}

function pageInfoFields(
  compilation: Compilation,
  fetch: ConnectionFetch,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): PageField[] {
  return [...collectFields(compilation, type, nodes)].map(([responseName, selected]) => {
    switch (nameOf(selected)) {
      case '__typename':
        return { responseName, write: typeName(type) };
      case 'hasNextPage':
        fetch.showMore();
        return { responseName, write: (out, pages, group) => out.boolean(hasMore(pages, group, false)) };
      case 'hasPreviousPage':
        fetch.showMore();
        return { responseName, write: (out, pages, group) => out.boolean(hasMore(pages, group, true)) };
      case 'startCursor':
        return { responseName, write: cursorWriter(fetch, true, ({ start }, group) => start[group] ?? 0) };
      case 'endCursor':
        return { responseName, write: cursorWriter(fetch, false, ({ end }, group) => (end[group] ?? 0) - 1) };
      default:
        throw new NotCompilable(`${type.name}.${nameOf(selected)}`);
    }
  });
}

/** In the direction of the walk, the statement shows whether there are more rows; in the other one, a cursor from there does. */
function hasMore({ requested: { request }, more }: FetchedPages, group: number, backward: boolean): boolean {
  if (backward === request.backward) return more[group] ?? false;
  return (backward ? request.after : request.before) !== undefined;
}

/** Writes the cursor of a row, or the stop of a page that ended early. */
function cursorWriter(
  fetch: ConnectionFetch,
  isStart: boolean,
  rowAt: (pages: FetchedPages, group: number) => number,
): WriteFromPages {
  const cursor = fetch.cursor();
  return (out, pages, group) => {
    const { request, fingerprint } = pages.requested;
    const stop = request.backward === isStart ? pages.stops?.[group] : undefined;
    if (stop) return out.string(cursorAt(stop.value, stop.id, fingerprint()));
    const isEmpty = pages.start[group] === pages.end[group];
    if (isEmpty) out.null();
    else out.string(cursor(pages, rowAt(pages, group)));
  };
}
