import type { AnyRow } from '../db/query/any-tables.ts';
import type { Order, Page, PageRequest, Source } from '../db/query/page.ts';
import { always, isAlways } from '../db/query/predicate.ts';
import { type Context, signedIn } from './context.ts';
import { decodeCursor, encodeCursor, listFingerprint } from './cursors.ts';
import { AppError, Violations } from './errors.ts';
import { type FilterFields, filterPredicate } from './filters.ts';

/** A list of one kind of row, as its type declares it once; the connection field adds who the parent is. */
export interface ListDeclaration {
  source: Source;
  orders: Readonly<Record<string, Omit<Order, 'direction'>>>;
  defaultOrder: { field: string; direction: 'asc' | 'desc' };
  filter: () => FilterFields;
  /** What a connection's arguments may ask for at most, and what they get when they say nothing. */
  maxPageSize: number;
  defaultPageSize: number;
}

export interface ConnectionArguments {
  first?: number | null;
  last?: number | null;
  after?: string | null;
  before?: string | null;
  filter?: Record<string, unknown> | null;
  orderBy?: { field: string; direction?: 'asc' | 'desc' | null } | null;
}

/** The page is read when something of it is asked for. */
export interface Connection {
  readonly edges: Promise<Edge[]>;
  readonly pageInfo: Promise<PageInfo>;
  /** Counted only when it is asked for. */
  totalCount: () => Promise<number>;
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

/** Who a list belongs to, and how many rows it has in all where the parent keeps count. */
export interface ListParent {
  key: string | undefined;
  count?: number | undefined;
}

/**
 * One page of a list: under a parent when the source has one, else of the whole workspace.
 * Bad arguments are `invalid_request`, all of them at once.
 */
export function resolveConnection(
  ctx: Context,
  list: ListDeclaration,
  { key, count }: ListParent,
  args: ConnectionArguments,
): Connection {
  const { loaders } = signedIn(ctx);
  const { request, fingerprint } = pageRequest(list, args);
  const read = () => (key === undefined ? loaders.page(request) : loaders.pages(request).load(key));
  let reading: Promise<{ edges: Edge[]; pageInfo: PageInfo }> | undefined;
  const page = () => (reading ??= read().then((rows) => pageOf(rows, request, fingerprint())));
  return {
    get edges() {
      return page().then(({ edges }) => edges);
    },
    get pageInfo() {
      return page().then(({ pageInfo }) => pageInfo);
    },
    totalCount: async () => {
      if (count !== undefined && isAlways(request.filter)) return count;
      const { parent: link } = list.source;
      if (key === undefined || !link) return loaders.count(list.source, request.filter);
      return loaders.counts({ ...list.source, parent: link }, request.filter).load(key);
    },
  };
}

function pageOf(
  page: Page,
  request: PageRequest,
  fingerprint: string,
): { edges: Edge[]; pageInfo: PageInfo } {
  const edges = page.rows.map((node) => ({ cursor: encodeCursor(node, request.order, fingerprint), node }));
  return {
    edges,
    pageInfo: {
      // Against the walk, a cursor was given, so there is the row that it names.
      hasNextPage: request.backward ? request.before !== undefined : page.more,
      hasPreviousPage: request.backward ? page.more : request.after !== undefined,
      startCursor: edges.at(0)?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

/** A page that is asked for, judged. */
export interface AskedPage {
  readonly request: PageRequest;
  /** What cursors of the list are bound to, worked out when one is read or written. */
  readonly fingerprint: () => string;
}

/** What the arguments of a connection ask for; throws `invalid_request` with all that is wrong with them. */
export function pageRequest(list: ListDeclaration, args: ConnectionArguments): AskedPage {
  const violations = new Violations();
  const order = orderOf(list, args.orderBy, violations);
  const filter = args.filter ? filterPredicate(list.filter(), args.filter, violations) : always;
  let known: string | undefined;
  const fingerprint = () => (known ??= listFingerprint(list.source.table, order, filter));
  const { first, last } = args;
  violations.that(first == null || last == null, 'last', 'cannot be combined with first');
  for (const [name, size] of [
    ['first', first],
    ['last', last],
  ] as const) {
    const fits = size == null || (size >= 1 && size <= list.maxPageSize);
    violations.that(fits, name, `must be from 1 to ${list.maxPageSize}`);
  }
  const request: PageRequest = {
    source: list.source,
    filter,
    order,
    limit: last ?? first ?? list.defaultPageSize,
    backward: last != null,
    after: positionOf('after', args.after, order, fingerprint, violations),
    before: positionOf('before', args.before, order, fingerprint, violations),
  };
  violations.check('invalid_request');
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
