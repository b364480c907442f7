import type { ListOrder } from '../../db/query/pages/plain-lists.ts';
import type { ChildSource, Source } from '../../db/query/walks/walk.ts';
import type { Predicate } from '../../db/query/conditions/predicate.ts';
import type { TableName } from '../../db/tables/tables.ts';
import type { PageTest } from '../../reference/page-test.ts';
import type { ListDeclaration } from '../../resolvers/connections.ts';
import type { Context, SignedIn } from '../../resolvers/context.ts';
import type { IdPrefix } from '../../resolvers/ids.ts';
import type { NodeKind } from '../../resolvers/nodes.ts';
import type { Piece } from './concatenated.ts';

/** The row of `table` for which `parent[key] = table[by]`. */
export interface ReferencePlan {
  table: TableName;
  key: string;
  by: string;
  where: Predicate;
}

/** The rows that a computed field reads, each with the columns that it reads and the rows that it refers to in turn. */
export interface ReferencePlans {
  readonly [name: string]: ReferencePlan & { columns: readonly string[]; nested: ReferencePlans };
}

/**
 * The maximum number of rows that a field returns for these arguments. The cost of an operation is computed from it.
 */
export type RowsOf = (args: Readonly<Record<string, unknown>>) => number;

/** An event of a subscription: the parent of its answer, and the cursor from which to continue after it. */
export interface StreamEvent {
  readonly event: object;
  readonly cursor: string;
  /** The same text for equal events of a workspace. */
  readonly identity: string;
}

/** The events of a subscription after a cursor, oldest first. */
export interface EventPage {
  readonly events: readonly StreamEvent[];
  /** The cursor from which to continue, which is set even if there are no events. */
  readonly cursor: string;
  /** Whether there may be further events after the cursor. */
  readonly hasMore: boolean;
  /** Set if more may have changed than events can report: then there are no events, and the client must read its list again. */
  readonly isReset?: boolean;
}

export interface EventsPlan {
  readonly kind: 'events';
  /** Reads the events of a subscription with these arguments. */
  readonly read: (ctx: Context, args: Record<string, unknown>, after: string) => Promise<EventPage>;
  /**
   * Returns a cheap test whether a page of the log may have events for these arguments; undefined if only `read` can
   * decide that.
   */
  readonly pageTest: (ctx: Context, args: Record<string, unknown>) => PageTest | undefined;
}

/**
 * How a field is answered, as data. The helpers of the field builder write it into the field's `extensions.plan`. The
 * compiled executor reads it there, and `plan-resolver.ts` makes the `resolve` of graphql-js from it. A plain column
 * has no plan: Pothos marks it with `pothosExposedField`.
 */
export type Plan =
  /** The TypeID of a uuid column. */
  | { kind: 'id'; prefix: IdPrefix; column: string }
  /** One row, by a key of the parent. */
  | ({ kind: 'reference' } & ReferencePlan)
  /** The row of the workspace that an argument identifies. `lookup` returns undefined if no row can match. */
  | {
      kind: 'byKey';
      table: TableName;
      where: Predicate;
      argument: string;
      lookup: (value: string) => Predicate | undefined;
    }
  /** A connection: of the parent's children, or of all rows of the workspace if there is no `parentKey`. */
  | {
      kind: 'connection';
      list: ListDeclaration;
      parentKey?: string;
      /** The column of the parent that holds the number of rows of the unfiltered list. */
      count?: string;
    }
  /** The parent's children as a plain list, or one column of it (`singleColumn`). */
  | {
      kind: 'list';
      source: ChildSource;
      orderBy: readonly ListOrder[];
      parentKey: string;
      singleColumn?: { column: string; prefix?: IdPrefix };
    }
  /** The parent's only child, if there is one. */
  | { kind: 'one'; source: Source & { parent: { column: string } }; parentKey: string }
  /** Whether there is a row with the parent's id and the viewer's account. */
  | { kind: 'exists'; table: TableName; keyColumn: string; viewerColumn: string }
  /** The number of the parent's children that match the filter. */
  | { kind: 'count'; source: ChildSource; filter: Predicate; parentKey: string }
  /** A value computed from the sums of the parent's counter slots. */
  | {
      kind: 'sums';
      table: TableName;
      keyColumn: string;
      columns: readonly string[];
      compute: (sums: Record<string, number>) => unknown;
    }
  /**
   * A value computed from these columns, from referenced rows and, if `usesContext` is true, from the request's context.
   */
  | {
      kind: 'computed';
      columns: readonly string[];
      references: ReferencePlans;
      usesContext: boolean;
      compute: (row: never, references: never, ctx: SignedIn) => unknown;
    }
  /** A text concatenated from literals, columns of the row and columns of rows that it refers to. */
  | { kind: 'concatenated'; pieces: readonly Piece[]; references: ReferencePlans }
  /** Objects of any type, by the global ids in an argument. */
  | { kind: 'nodes'; argument: 'id' | 'ids'; kinds: () => ReadonlyMap<IdPrefix, NodeKind> }
  /** An object for each parent, which one call of a resolver makes for the keys of all parents. */
  | {
      kind: 'series';
      parentKey: string;
      load: (ctx: Context, args: unknown, keys: readonly string[]) => Promise<readonly object[]>;
    }
  /** The same row as another type. */
  | { kind: 'self' }
  /** Rows or a value that one call of a resolver returns. The selection on them is answered by plans again. */
  | { kind: 'source'; load: (ctx: Context, args: unknown) => unknown }
  /** The events of a subscription. Each is the parent of an answer of its own. */
  | EventsPlan;

/** What the value of a field may depend on besides rows, the scopes of the token, the document and today's date. */
export interface PlanDependencies {
  /** It may depend on the request's context, such as the clock or a secret, so statements do not show whether it is still the same. */
  readonly dependsOnContext: boolean;
  /** It may differ between tokens that may read the same. */
  readonly dependsOnViewer: boolean;
}

const onRows: PlanDependencies = { dependsOnContext: false, dependsOnViewer: false };
const onViewer: PlanDependencies = { dependsOnContext: false, dependsOnViewer: true };
const onContext: PlanDependencies = { dependsOnContext: true, dependsOnViewer: true };

const dependencies: Readonly<Record<Plan['kind'], PlanDependencies>> = {
  id: onRows,
  reference: onRows,
  byKey: onRows,
  connection: onRows,
  list: onRows,
  one: onRows,
  exists: onViewer,
  count: onRows,
  sums: onRows,
  computed: onRows,
  concatenated: onRows,
  nodes: onViewer,
  series: onContext,
  self: onRows,
  source: onContext,
  // An event is the parent of its answer, and the same for every subscriber.
  events: { dependsOnContext: true, dependsOnViewer: false },
};

export function dependenciesOf(plan: Plan): PlanDependencies {
  return plan.kind === 'computed' && plan.usesContext ? onContext : dependencies[plan.kind];
}

/** The tables whose rows a field shows, counts or computes with. What the call of a resolver reads is not known here. */
export function tablesOf(plan: Plan): readonly TableName[] {
  switch (plan.kind) {
    case 'reference':
    case 'byKey':
    case 'exists':
    case 'sums':
      return [plan.table];
    case 'connection':
      return [plan.list.source.table];
    case 'list':
    case 'one':
    case 'count':
      return [plan.source.table];
    case 'computed':
    case 'concatenated':
      return referredTables(plan.references);
    case 'id':
    case 'nodes':
    case 'series':
    case 'self':
    case 'source':
    case 'events':
      return [];
    default:
      return plan satisfies never;
  }
}

function referredTables(references: ReferencePlans): TableName[] {
  return Object.values(references).flatMap(({ table, nested }) => [table, ...referredTables(nested)]);
}

/** The plans of one kind. */
export type PlanOf<Kind extends Plan['kind']> = Extract<Plan, { kind: Kind }>;
