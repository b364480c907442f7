import {
  type AliasedExpression,
  type Expression,
  type Kysely,
  type QueryCreator,
  type RawBuilder,
  sql,
} from 'kysely';
import { jsonName } from '../../model/issue-columns.ts';
import type { IssueRow } from '../issues.ts';
import { typedSlot } from '../statements/slots.ts';
import type { Row, TableName } from '../tables/tables.ts';
import type { TenantDb, TenantTables } from '../tables/tenant-tables.ts';

/**
 * The parts of statements that write issues, as tables. Each part is a common table expression that later parts can
 * read. A part takes its rows from earlier ones, so nothing is written for an issue that was not found.
 */
interface WriteParts {
  /** The requested changes, one row for each issue. */
  requested: RequestedRow;
  /** The rows of `requested` whose issues were found and locked, with the issues as they were before the write. */
  locked: IssueRow & RequestedRow & { at: Date };
  /**
   * The issues after the write, with the columns of `requested` and the time of `locked`. In a statement that creates the
   * issues it has only their own columns.
   */
  changed: IssueRow & RequestedRow & { at: Date };
  /** The comment that is replied to. */
  parent: Pick<Row<'comment'>, 'id' | 'authorUserAccountId'> & Pick<Row<'member'>, 'displayName'>;
  /** New comments: the ordinal of their issue in `requested`, and their own ordinal among those of the issue, from 1. */
  newComments: { id: string; issue: number; ordinal: number; author: string };
  /**
   * New issues: the ordinal of their team in `teams`, and their own ordinal among those of the
   * team. It begins at 0, because it is added to the number of the first of them.
   */
  newIssues: { id: string; team: number; ordinal: number };
  /** Teams and how many new issues each of them gets. */
  teams: { id: string; count: number; ordinal: number };
  /** The counters of teams that no other transaction has locked. */
  freeCounters: { id: string; count: number };
  /** The counters of teams after the numbers of new issues were taken from them. */
  counters: { teamId: string; next: number };
  /** The number of the first new issue of each team. */
  numbered: { teamId: string; number: number; ordinal: number; at: Date };
  /** The Idempotency-Keys of the written items, by the id of their entry in the log. */
  requestKeys: { entry: string; account: string; key: string };
  /** The entries that are not written, because their keys are in use or were used. */
  refused: { entry: string };
  /** The rows that a statement with Idempotency-Keys returns, and stores with the keys. */
  shown: Record<string, unknown> & { entry: string; ordinal: number };
  /**
   * What the statement subtracts from the counts of deliveries and projects (sign −1), and what it adds to them (sign
   * 1).
   */
  counted: { deliveryId: string | null; projectId: string | null } & Record<
    'sign' | 'closed' | 'completed' | 'canceled' | 'estimate',
    number
  >;
  /** What the statement subtracts from tallies (sign −1), and what it adds to them (sign 1). */
  tallied: Pick<Row<'issueTally'>, 'kind' | 'groupId' | 'teamId' | 'statusId' | 'priority'> &
    Record<'sign' | 'estimate', number>;
}

interface RequestedRow {
  /** The number of the row, from 1. */
  ordinal: number;
  /** The id of the change in the log, and of the entry in the feed; null if the row itself logs nothing. */
  entry: string | null;
  /** The account of the actor; null for the service itself. */
  actor: string | null;
  /** The text of the entry in the feed; null if there is none. */
  text: string | null;
  /** The id of the request; null if there is none. */
  request: string | null;
  /** The id of the object that the change is about; null if that is the issue. */
  subject: string | null;
  fields: string[] | null;
  /** Values before the change that are not stored in columns of the issue. */
  previous: unknown;
  /** How many comments the issue gets; null in a statement that writes none. */
  comments: number | null;
}

/** The tables that a part can name: those of the tenant, and other parts. */
export type WrittenTables = TenantTables & WriteParts;

/**
 * Builds parts without the plugins of the tenant handle. When the statement is complete, these bind it to the workspace and
 * convert names to snake_case. So references (`sql.ref('changed.activityCount')`) and the columns of builders are in
 * camelCase, raw SQL contains the names of the database, and the columns of a `recordset` have their `jsonName`.
 */
export type Parts = Kysely<WrittenTables>;

export function partsOf(db: TenantDb): Parts {
  const bare: unknown = db.withoutPlugins();
  return bare as Parts;
}

/** A part and its name. A part that writes runs even if no other part reads it. */
export type Part = readonly [name: string, query: Pick<Expression<unknown>, 'toOperationNode'>];

/** Begins a statement with the parts, in their order. */
export function withParts(db: TenantDb, parts: readonly (Part | undefined)[]): QueryCreator<WrittenTables> {
  let query: unknown = db;
  for (const part of parts) {
    // `WriteParts` declares what each name stands for; Kysely cannot infer it from a list.
    if (part) query = (query as Parts).with(part[0], () => part[1] as Expression<object>);
  }
  return query as QueryCreator<WrittenTables>;
}

/** The columns of an insert, and the expressions that are selected for them in the same order. */
export function columnsOf<Name extends TableName>(
  values: { readonly [Column in Exclude<keyof Row<Name> & string, 'workspaceId'>]?: Expression<unknown> },
) {
  const all = Object.entries<Expression<unknown> | undefined>(values);
  return {
    columns: all.map(([column]) => column as keyof Row<Name> & string),
    selections: all.map(([column, value]) => sql`${value}`.as(column)) as AliasedExpression<
      unknown,
      string
    >[],
  };
}

/**
 * The rows of a JSON array, which is the value of the slot, as a table with typed columns. PostgreSQL always estimates
 * 100 rows for it, so a prepared statement gets a generic plan; with `unnest` it would be planned on each run.
 */
export function recordset<Columns, Alias extends string>(
  slot: string,
  alias: Alias,
  columns: Readonly<Record<string, string>>,
) {
  const definitions = Object.entries(columns).map(([name, type]) => `"${jsonName(name)}" ${type}`);
  const rows: RawBuilder<Columns> = sql`json_to_recordset(${typedSlot(slot, 'json')})`;
  return rows.as<Alias>(sql.raw(`${alias}(${definitions.join(', ')})`));
}

/** A row of the JSON array that `recordset` reads. */
export function jsonRow(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [jsonName(name), value]));
}
