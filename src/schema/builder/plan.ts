import type { ChildSource, ListOrder, Source } from '../../db/query/page.ts';
import type { Predicate } from '../../db/query/predicate.ts';
import type { TableName } from '../../db/tables/tables.ts';
import type { ListDeclaration } from '../../resolvers/connections.ts';
import type { Context, SignedIn } from '../../resolvers/context.ts';
import type { IdPrefix } from '../../resolvers/ids.ts';
import type { NodeKind } from '../../resolvers/nodes.ts';
import type { Piece } from './concatenated.ts';

/** A row reached from another by a key of that other: `parent[key] = table[by]`. */
export interface ReferencePlan {
  table: TableName;
  key: string;
  by: string;
  where: Predicate;
}

/** Rows that a computed field reads, each with the columns that it reads and the rows beyond. */
export interface ReferencePlans {
  readonly [name: string]: ReferencePlan & { columns: readonly string[]; nested: ReferencePlans };
}

/** How many rows the arguments of a field ask for, at most: what the cost of an operation is computed from. */
export type RowsOf = (args: Readonly<Record<string, unknown>>) => number;

/**
 * What a field is, as data. The helpers of the field builder write it into the field's `extensions.plan`; graphql-js
 * gets a `resolve` made of it, and the compiled executor reads it. Plain columns are Pothos's own `pothosExposedField`.
 */
export type Plan =
  /** The TypeID of a uuid column. */
  | { kind: 'id'; prefix: IdPrefix; column: string }
  /** One row, by a key of the parent. */
  | ({ kind: 'reference' } & ReferencePlan)
  /** One row of the workspace, by what an argument says; undefined when that names nothing. */
  | {
      kind: 'byKey';
      table: TableName;
      where: Predicate;
      argument: string;
      lookup: (value: string) => Predicate | undefined;
    }
  /** A connection: of the parent's children, or of the whole workspace when `parentKey` is absent. */
  | {
      kind: 'connection';
      list: ListDeclaration;
      parentKey?: string;
      /** The column of the parent that holds how many rows the list has without a filter. */
      count?: string;
    }
  /** A plain list under the parent, or one column of it (`only`). */
  | {
      kind: 'list';
      source: ChildSource;
      orderBy: readonly ListOrder[];
      parentKey: string;
      only?: { column: string; prefix?: IdPrefix };
    }
  /** The only row under the parent, if there is one. */
  | { kind: 'one'; source: Source & { parent: { column: string } }; parentKey: string }
  /** Does a row join the parent to the viewer. */
  | { kind: 'exists'; table: TableName; keyColumn: string; viewerColumn: string }
  /** How many children the parent has. */
  | { kind: 'count'; source: ChildSource; filter: Predicate; parentKey: string }
  /** A value made of the sums of the parent's counter slots. */
  | {
      kind: 'sums';
      table: TableName;
      keyColumn: string;
      columns: readonly string[];
      compute: (sums: Record<string, number>) => unknown;
    }
  /** A value made of named columns, rows referred to and, where `context` is said, of who asks. */
  | {
      kind: 'computed';
      columns: readonly string[];
      references: ReferencePlans;
      context: boolean;
      compute: (row: never, references: never, ctx: SignedIn) => unknown;
    }
  /** Literal texts, columns of the row and columns of the rows it refers to, concatenated. */
  | { kind: 'concatenated'; pieces: readonly Piece[]; references: ReferencePlans }
  /** Things of any type, by the global ids that an argument holds. */
  | { kind: 'nodes'; argument: 'id' | 'ids'; kinds: () => ReadonlyMap<IdPrefix, NodeKind> }
  /** The row itself under another type. */
  | { kind: 'self' }
  /** Rows or a value from one resolver call, below which the selection goes on as planned. */
  | { kind: 'source'; load: (ctx: Context, args: unknown) => unknown };
