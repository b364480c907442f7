import type { AnyRow } from '../db/query/any-tables.ts';
import type { Order, Source } from '../db/query/walks/walk.ts';
import { always, isAlways } from '../db/query/conditions/predicate.ts';
import type { Total } from '../db/reads/bounded-totals.ts';
import type { Page, PageRequest } from '../db/reads/pages.ts';
import { limits } from '../model/limits.ts';
import { wholeNumberRule } from '../model/sentences.ts';
import { type Context, requireSignedIn } from './context.ts';
import { cursorAt, decodeCursor, encodeCursor, listFingerprint } from './cursors.ts';
import { AppError, Violations } from './errors.ts';
import { type FilterFields, filterPredicate } from './filters.ts';

/** The declaration of a list, which its type declares once. The connection field adds the parent. */
export interface ListDeclaration {
  source: Source;
  orders: Readonly<Record<string, Omit<Order, 'direction'>>>;
  defaultOrder: { field: string; direction: 'asc' | 'desc' };
  filter: () => FilterFields;
  /** The maximum size of a page. */
  maxPageSize: number;
}

export interface ConnectionArguments {
  first?: number | null;
  last?: number | null;
  after?: string | null;
  before?: string | null;
  filter?: Record<string, unknown> | null;
  orderBy?: { field: string; direction?: 'asc' | 'desc' | null } | null;
}

/** The result of a connection field. The page is only read if one of its fields is selected. */
export interface Connection {
  readonly edges: Promise<Edge[]>;
  readonly pageInfo: Promise<PageInfo>;
  /** Counts the rows only when it is called, and once. */
  total(): Promise<Total>;
}

interface Edge {
  cursor: string;
  node: AnyRow;
}

interface PageInfo {
  hasNextPage: boolean;
  hasPreviousPage: boolean;
  startCursor: string | null;
  endCursor: string | null;
}

/** The key of a list's parent, and the number of rows of the unfiltered list if the parent has it. */
export interface ListParent {
  key: string | undefined;
  count?: number | undefined;
}

/**
 * Resolves a page of a list: of a parent's children, or of the whole workspace if the source has no parent. Throws
 * `invalid_request` with all invalid arguments.
 */
export function resolveConnection(
  ctx: Context,
  list: ListDeclaration,
  { key, count }: ListParent,
  args: ConnectionArguments,
): Connection {
  return connectionOf(ctx, list, { key, count }, pageRequest(list, args));
}

/** The page of a list that a valid request asks for. */
export function connectionOf(
  ctx: Context,
  list: ListDeclaration,
  { key, count }: ListParent,
  { request, fingerprint }: ValidatedPage,
): Connection {
  const { loaders } = requireSignedIn(ctx);
  const read = () => (key === undefined ? loaders.page(request) : loaders.pages(request).load(key));
  const page = async () => pageOf(await read(), request, fingerprint());
  const countTotal = async () => {
    if (count !== undefined && isAlways(request.filter)) return { count, isExact: true };
    const { parent } = list.source;
    if (key === undefined || !parent) return loaders.total(list.source, request.filter);
    return loaders.totals({ ...list.source, parent }, request.filter).load(key);
  };
  return new LazyConnection(page, countTotal);
}

interface ConnectionPage {
  readonly edges: Edge[];
  readonly pageInfo: PageInfo;
}

/** A connection that reads its page and its total when they are asked for, once. */
class LazyConnection implements Connection {
  readonly #read: () => Promise<ConnectionPage>;
  readonly #count: () => Promise<Total>;
  #page: Promise<ConnectionPage> | undefined;
  #total: Promise<Total> | undefined;

  constructor(read: () => Promise<ConnectionPage>, count: () => Promise<Total>) {
    this.#read = read;
    this.#count = count;
  }

  get edges(): Promise<Edge[]> {
    return this.#pageOnce().then(({ edges }) => edges);
  }

  get pageInfo(): Promise<PageInfo> {
    return this.#pageOnce().then(({ pageInfo }) => pageInfo);
  }

  total(): Promise<Total> {
    this.#total ??= this.#count();
    return this.#total;
  }

  #pageOnce(): Promise<ConnectionPage> {
    this.#page ??= this.#read();
    return this.#page;
  }
}

function pageOf(page: Page, request: PageRequest, fingerprint: string): ConnectionPage {
  const edges = page.rows.map((node) => ({ cursor: encodeCursor(node, request.order, fingerprint), node }));
  const stop = page.stop && cursorAt(page.stop.value, page.stop.id, fingerprint);
  return {
    edges,
    pageInfo: {
      // Before the start of the page (in its direction) there is at least the row of the cursor, if there is a cursor.
      hasNextPage: request.backward ? request.before !== undefined : page.hasMore,
      hasPreviousPage: request.backward ? page.hasMore : request.after !== undefined,
      startCursor: (request.backward ? stop : undefined) ?? edges.at(0)?.cursor ?? null,
      endCursor: (request.backward ? undefined : stop) ?? edges.at(-1)?.cursor ?? null,
    },
  };
}

/** The request for a page, with validated arguments. */
export interface ValidatedPage {
  readonly request: PageRequest;
  /** The fingerprint that binds cursors to the list. It is computed only when a cursor is read or written. */
  readonly fingerprint: () => string;
}

/** Validates the arguments of a connection; throws `invalid_request` with all violations. */
export function pageRequest(list: ListDeclaration, args: ConnectionArguments): ValidatedPage {
  const violations = new Violations();
  const order = orderOf(list, args.orderBy, violations);
  const filter = args.filter ? filterPredicate(list.filter(), args.filter, violations) : always;
  let cachedFingerprint: string | undefined;
  const fingerprint = () => (cachedFingerprint ??= listFingerprint(list.source.table, order, filter));
  const { first, last } = args;
  violations.addUnless(first == null || last == null, 'last', 'cannot be combined with first');
  for (const [name, size] of [
    ['first', first],
    ['last', last],
  ] as const) {
    const isInRange = size == null || (size >= 1 && size <= list.maxPageSize);
    violations.addUnless(isInRange, name, wholeNumberRule(1, list.maxPageSize));
  }
  const request: PageRequest = {
    source: list.source,
    filter,
    order,
    limit: last ?? first ?? limits.defaultPageSize,
    backward: last != null,
    after: positionOf('after', args.after, order, fingerprint, violations),
    before: positionOf('before', args.before, order, fingerprint, violations),
  };
  violations.throwIfAny('invalid_request');
  return { request, fingerprint };
}

function orderOf(
  list: ListDeclaration,
  orderBy: ConnectionArguments['orderBy'],
  violations: Violations,
): Order {
  const field = orderBy?.field ?? list.defaultOrder.field;
  const declared = list.orders[field];
  if (!declared) violations.add('orderBy', `must be one of ${Object.keys(list.orders).join(', ')}`);
  const [fallback] = Object.values(list.orders);
  const order = declared ?? fallback;
  if (!order) throw new AppError('internal_error', 'The list has no orders.');
  return { ...order, direction: orderBy ? (orderBy.direction ?? 'asc') : list.defaultOrder.direction };
}

function positionOf(
  name: 'after' | 'before',
  cursor: string | null | undefined,
  order: Order,
  fingerprint: () => string,
  violations: Violations,
) {
  if (!cursor) return undefined;
  const position = decodeCursor(cursor, order, fingerprint());
  if (!position) violations.add(name, 'is not a cursor of this list with this order and these filters');
  return position;
}
