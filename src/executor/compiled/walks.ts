import {
  countQuery,
  countsQuery,
  type PageRequest,
  pageQuery,
  pagesQuery,
  type Position,
  type ReadColumn,
  type Walk,
} from '../../db/page.ts';
import { Prepared, slotted, type Values } from '../../db/prepared.ts';
import { Slot } from '../../db/slots.ts';
import { keysSlot, type Run } from './run.ts';

/** What a connection's arguments come to, its values apart from the text of its statements. */
export interface ShapedWalk {
  request: PageRequest;
  fingerprint: string;
  /** Equal for all that the same statement serves. */
  shape: string;
  walk: Walk;
  values: Values;
}

const rowsSlot = new Slot('rows');

export function shapedWalk(request: PageRequest, fingerprint: string): ShapedWalk {
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
  return {
    request,
    fingerprint,
    shape: JSON.stringify([walk.filter, order, backward, walk.after, walk.before]),
    walk,
    values: { ...filter.values, ...after?.values, ...before?.values, rows: request.limit + 1 },
  };
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

/** Statements kept for each shape that the arguments of one field have had. */
const maxShapes = 50;

/** The statements of one connection field: of its pages and of its counts. */
export class WalkStatements {
  readonly #byShape = new Map<string, Prepared>();
  readonly #ofChildren: boolean;

  constructor(ofChildren: boolean) {
    this.#ofChildren = ofChildren;
  }

  page({ shape, walk }: ShapedWalk, columns: readonly ReadColumn[], run: Run): Prepared {
    return this.#known(`page ${shape}`, () => {
      const reading = run.reading(columns);
      return this.#ofChildren
        ? new Prepared(pagesQuery(reading, walk, rowsSlot, keysSlot))
        : new Prepared(pageQuery(reading, walk, rowsSlot));
    });
  }

  count({ walk: { source, filter } }: ShapedWalk, run: Run): Prepared {
    return this.#known(`count ${JSON.stringify(filter)}`, () => {
      const { parent } = source;
      return this.#ofChildren && parent
        ? new Prepared(countsQuery(run.reading([]), { ...source, parent }, filter, keysSlot))
        : new Prepared(countQuery(run.reading([]), source, filter));
    });
  }

  #known(shape: string, make: () => Prepared): Prepared {
    const known = this.#byShape.get(shape);
    if (known) return known;
    if (this.#byShape.size >= maxShapes) this.#byShape.clear();
    const made = make();
    this.#byShape.set(shape, made);
    return made;
  }
}
