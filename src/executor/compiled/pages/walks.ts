import { type IndexUse, type PlannedWalk, indexUseOf } from '../../../db/query/walks/index-use.ts';
import { type CountStep, countStepQuery } from '../../../db/query/totals/bounded-count.ts';
import type { ReadColumn } from '../../../db/query/query-base.ts';
import { withSlots } from '../../../db/query/conditions/with-slots.ts';
import { type PageStep, stepQuery } from '../../../db/query/pages/bounded-page.ts';
import { pageQuery, type PageSize, pagesQuery } from '../../../db/query/pages/page.ts';
import type { Position, Source, Walk } from '../../../db/query/walks/walk.ts';
import { Prepared, type Values } from '../../../db/statements/prepared.ts';
import { Slot } from '../../../db/statements/slots.ts';
import type { Predicate } from '../../../db/query/conditions/predicate.ts';
import { withPrefixRanges } from '../../../db/query/conditions/prefix-range.ts';
import { type ProbedCandidate, probeQuery } from '../../../db/query/walks/candidate-probe.ts';
import { tallyFor } from '../../../db/query/totals/tallies.ts';
import { totalQuery, type TotalStrategy, totalStrategy } from '../../../db/query/totals/totals.ts';
import { withKeys } from '../../../reference/conditions.ts';
import { withRanks } from '../../../reference/ranks.ts';
import type { PageRequest } from '../../../db/reads/pages.ts';
import type { Snapshot } from '../../../reference/snapshot.ts';
import type { ValidatedPage } from '../../../resolvers/connections.ts';
import { keysSlot, type Run } from '../run/run.ts';
import { ValuesByForm } from '../run/values-by-form.ts';
import { columnIdentity, statement } from '../run/statements.ts';

/** The page that the arguments of a connection request, and the statements and values that read it. */
export class RequestedPage implements ValidatedPage {
  readonly request: PageRequest;
  readonly fingerprint: () => string;
  readonly #options: { showsMore: boolean; fixed: boolean };
  /** By the snapshot of the reference data, because the values contain its keys. */
  readonly #pages = new WeakMap<object, ParameterizedPage>();
  readonly #totals = new WeakMap<object, ParameterizedTotal>();

  constructor({ request, fingerprint }: ValidatedPage, options: { showsMore: boolean; fixed: boolean }) {
    this.request = request;
    this.fingerprint = fingerprint;
    this.#options = options;
  }

  /** The page, with conditions on reference data replaced by the keys of the rows that meet them. */
  parameterized(cached: Snapshot | undefined): ParameterizedPage {
    const known = this.#pages.get(cached ?? noReferenceData);
    if (known) return known;
    const { request } = this;
    const { order } = request;
    const ranged = this.#ranged();
    const filter = cached ? withKeys(withRanks(ranged, order, cached), cached) : ranged;
    const made = parameterizePage({ ...request, filter }, this.#options);
    this.#pages.set(cached ?? noReferenceData, made);
    return made;
  }

  /** How the rows of all pages are counted. */
  parameterizedTotal(cached: Snapshot | undefined): ParameterizedTotal {
    const known = this.#totals.get(cached ?? noReferenceData);
    if (known) return known;
    const { source } = this.request;
    const ranged = this.#ranged();
    const keyed = cached ? withKeys(ranged, cached) : ranged;
    const choice = tallyFor(source, keyed);
    const { form: filter, values } = withSlots(choice?.filter ?? keyed, 'counted');
    const strategy = totalStrategy(source, filter, choice && { ...choice, filter });
    const made = { source, form: JSON.stringify([strategy.by, choice?.kind, filter]), strategy, values };
    this.#totals.set(cached ?? noReferenceData, made);
    return made;
  }

  #ranged(): Predicate {
    return withPrefixRanges(this.request.filter, this.request.source.table);
  }
}

const noReferenceData = {};

/** A requested page, split into what the text of its statements depends on and the values. */
export interface ParameterizedPage {
  /** Equal for pages that the same statement can read. */
  form: string;
  walk: Walk;
  size: PageSize;
  /** The number of rows that a statement reads of each page. */
  rows: number;
  values: Values;
}

/** A total, split in the same way. */
export interface ParameterizedTotal {
  readonly source: Source;
  /** Equal for totals that the same statement can find. */
  readonly form: string;
  readonly strategy: TotalStrategy;
  readonly values: Values;
}

const rowsSlot = new Slot('rows');

/**
 * Splits a page into the form of its statement and the values. The statement reads one row more than the page has if the operation
 * selects whether there are more. A size that is fixed in the document is a literal in the statement; sizes in variables share a
 * statement for a range of sizes.
 */
function parameterizePage(
  request: PageRequest,
  { showsMore, fixed }: { showsMore: boolean; fixed: boolean },
): ParameterizedPage {
  const { source, order, backward } = request;
  const filter = withSlots(request.filter, 'filter');
  const after = slottedPosition(request.after, 'after');
  const before = slottedPosition(request.before, 'before');
  const walk: Walk = {
    source,
    filter: filter.form,
    order,
    backward,
    ...(after && { after: after.position }),
    ...(before && { before: before.position }),
  };
  const rows = request.limit + (showsMore ? 1 : 0);
  const size: PageSize = fixed ? { exactly: rows } : { rows: rowsSlot, max: sizeClass(rows) };
  return {
    form: JSON.stringify([walk.filter, order, backward, walk.after, walk.before, size]),
    walk,
    size,
    rows,
    values: { ...filter.values, ...after?.values, ...before?.values, rows },
  };
}

/** The maximum size of the pages that one statement reads: a power of two, so that similar sizes share a statement. */
function sizeClass(rows: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(rows, 1)));
}

/** A position as slots and their values. A null is in the statement itself, because it needs other conditions. */
function slottedPosition(position: Position | undefined, name: string) {
  if (!position) return undefined;
  const value = position.value === null ? null : new Slot(`${name}Value`);
  return {
    position: { value, id: new Slot(`${name}Id`) },
    values: { [`${name}Value`]: position.value, [`${name}Id`]: position.id },
  };
}

/** The statements of one connection field: for each form of its arguments, those that read pages or count rows, at once or in steps. */
export class WalkStatements {
  readonly #statements = new ValuesByForm<Prepared>();
  readonly #indexUses = new ValuesByForm<IndexUse>();
  readonly #ofChildren: boolean;

  constructor(ofChildren: boolean) {
    this.#ofChildren = ofChildren;
  }

  /** How the rows of a walk can be found. */
  indexUse({ form, walk }: ParameterizedPage): IndexUse {
    return this.#indexUses.of(form, () => indexUseOf(walk));
  }

  /** One step of reading pages within bounds. */
  step(parameterized: ParameterizedPage, step: PageStep, columns: readonly ReadColumn[], run: Run): Prepared {
    const { form, walk, size } = parameterized;
    const stepKey = JSON.stringify(step);
    const identity = ['step', stepKey, this.#ofChildren, walk.source, form, columnIdentity(columns)];
    return this.#known(`${stepKey} ${form}`, identity, () => {
      const planned = { walk, indexUse: this.indexUse(parameterized) };
      const keys = this.#ofChildren ? keysSlot : undefined;
      const query = stepQuery(run.queryBase(columns), planned, size, step, keys);
      return new Prepared(query, { stopColumn: columns.length });
    });
  }

  /** Counts the matches of conditions, to find out how to read a page or a total. */
  probe(
    form: string,
    planned: PlannedWalk,
    probed: readonly ProbedCandidate[],
    sample: number,
    run: Run,
  ): Prepared {
    const { source, order } = planned.walk;
    const limits = [...probed.map(({ max }) => max), sample];
    return this.#known(`probe ${limits.join()} ${form}`, ['probe', source, order, form, limits], () => {
      return new Prepared(probeQuery(run.queryBase([]), planned, probed, sample));
    });
  }

  page({ form, walk, size }: ParameterizedPage, columns: readonly ReadColumn[], run: Run): Prepared {
    const { source } = walk;
    const identity = ['page', this.#ofChildren, source, form, columnIdentity(columns)];
    return this.#known(`page ${form}`, identity, () => {
      const base = run.queryBase(columns);
      return this.#ofChildren
        ? new Prepared(pagesQuery(base, walk, size, keysSlot))
        : new Prepared(pageQuery(base, walk, size));
    });
  }

  /** The statement that counts the rows of all pages; undefined if they are counted within bounds. */
  total({ source, form, strategy }: ParameterizedTotal, run: Run): Prepared | undefined {
    if (strategy.by === 'bounds') return undefined;
    return this.#known(`total ${form}`, ['total', this.#ofChildren, source, form], () => {
      const keys = this.#ofChildren ? keysSlot : undefined;
      return new Prepared(totalQuery(run.queryBase([]), source, strategy, keys));
    });
  }

  /** One step of counting within bounds. */
  countStep({ source, form }: ParameterizedTotal, planned: PlannedWalk, step: CountStep, run: Run): Prepared {
    const stepKey = JSON.stringify(step);
    return this.#known(`count ${stepKey} ${form}`, ['count', stepKey, this.#ofChildren, source, form], () => {
      const keys = this.#ofChildren ? keysSlot : undefined;
      return new Prepared(countStepQuery(run.queryBase([]), planned, step, keys), { boundColumn: 1 });
    });
  }

  #known(form: string, identity: readonly unknown[], make: () => Prepared): Prepared {
    return this.#statements.of(form, () => statement(identity, make));
  }
}
