import {
  type PageRequest,
  type PageSize,
  pageQuery,
  pagesQuery,
  type Position,
  type ReadColumn,
  type Walk,
} from '../../db/query/page.ts';
import { Prepared, slotted, type Values } from '../../db/query/prepared.ts';
import { Slot } from '../../db/query/slots.ts';
import { countQuery, countsQuery } from '../../db/query/totals.ts';
import { withKeys } from '../../reference/conditions.ts';
import type { Snapshot } from '../../reference/snapshot.ts';
import type { ValidatedPage } from '../../resolvers/connections.ts';
import { keysSlot, type Run } from './run.ts';
import { columnParts, statement } from './statements.ts';

/** What a connection's arguments ask for, and how SQL is asked for it where the rows are not in memory. */
export class Walked implements ValidatedPage {
  readonly request: PageRequest;
  readonly fingerprint: () => string;
  readonly #how: { showsMore: boolean; fixed: boolean };
  /** By the reference data, whose keys stand in its values. */
  readonly #shaped = new WeakMap<object, ShapedWalk>();

  constructor({ request, fingerprint }: ValidatedPage, how: { showsMore: boolean; fixed: boolean }) {
    this.request = request;
    this.fingerprint = fingerprint;
    this.#how = how;
  }

  shaped(cached: Snapshot | undefined): ShapedWalk {
    const known = this.#shaped.get(cached ?? noReferenceData);
    if (known) return known;
    const { request } = this;
    const filter = cached
      ? withKeys(request.filter, cached, request.source.parent !== undefined)
      : request.filter;
    const made = shapedWalk({ ...request, filter }, this.#how);
    this.#shaped.set(cached ?? noReferenceData, made);
    return made;
  }
}

const noReferenceData = {};

/** The values of a page that is asked for apart from the text of its statements. */
export interface ShapedWalk {
  /** Equal for all that the same statement serves. */
  shape: string;
  walk: Walk;
  size: PageSize;
  values: Values;
}

const rowsSlot = new Slot('rows');

/**
 * One row more than the page holds is read where somebody wants to know whether there are more. A size that the document
 * itself says stands in the statement; statements for sizes in variables serve several.
 */
function shapedWalk(
  request: PageRequest,
  { showsMore, fixed }: { showsMore: boolean; fixed: boolean },
): ShapedWalk {
  const { source, order, backward } = request;
  const filter = slotted(request.filter, 'filter');
  const after = slottedPosition(request.after, 'after');
  const before = slottedPosition(request.before, 'before');
  const walk: Walk = {
    source,
    filter: filter.shape,
    order,
    backward,
    ...(after && { after: after.place }),
    ...(before && { before: before.place }),
  };
  const rows = request.limit + (showsMore ? 1 : 0);
  const size: PageSize = fixed ? { exactly: rows } : { rows: rowsSlot, atMost: sizeClass(rows) };
  return {
    shape: JSON.stringify([walk.filter, order, backward, walk.after, walk.before, size]),
    walk,
    size,
    values: { ...filter.values, ...after?.values, ...before?.values, rows },
  };
}

/** The power of two that the pages of one statement do not go beyond. */
function sizeClass(rows: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(rows, 1)));
}

/** A row without a value is looked for in another way, so null stays in the text. */
function slottedPosition(position: Position | undefined, name: string) {
  if (!position) return undefined;
  const value = position.value === null ? null : new Slot(`${name}Value`);
  return {
    place: { value, id: new Slot(`${name}Id`) },
    values: { [`${name}Value`]: position.value, [`${name}Id`]: position.id },
  };
}

/** Statements cached for each shape that the arguments of one field have had. */
const maxShapes = 50;

/** The statements of one connection field: of its pages and of its counts. */
export class WalkStatements {
  readonly #byShape = new Map<string, Prepared>();
  readonly #ofChildren: boolean;

  constructor(ofChildren: boolean) {
    this.#ofChildren = ofChildren;
  }

  page({ shape, walk, size }: ShapedWalk, columns: readonly ReadColumn[], run: Run): Prepared {
    const { source } = walk;
    const parts = ['page', this.#ofChildren, source, shape, columnParts(columns)];
    return this.#known(`page ${shape}`, parts, () => {
      const reading = run.reading(columns);
      return this.#ofChildren
        ? new Prepared(pagesQuery(reading, walk, size, keysSlot))
        : new Prepared(pageQuery(reading, walk, size));
    });
  }

  count({ walk: { source, filter } }: ShapedWalk, run: Run): Prepared {
    const shape = JSON.stringify(filter);
    return this.#known(`count ${shape}`, ['count', this.#ofChildren, source, shape], () => {
      const { parent } = source;
      return this.#ofChildren && parent
        ? new Prepared(countsQuery(run.reading([]), { ...source, parent }, filter, keysSlot))
        : new Prepared(countQuery(run.reading([]), source, filter));
    });
  }

  #known(shape: string, parts: readonly unknown[], make: () => Prepared): Prepared {
    const known = this.#byShape.get(shape);
    if (known) return known;
    if (this.#byShape.size >= maxShapes) this.#byShape.clear();
    const made = statement(parts, make);
    this.#byShape.set(shape, made);
    return made;
  }
}
