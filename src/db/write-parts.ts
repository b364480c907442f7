import {
  type AliasedExpression,
  type Expression,
  type Kysely,
  type QueryCreator,
  type SqlBool,
  sql,
} from 'kysely';
import type { IssueRow } from './issues.ts';
import { slot, typed } from './slots.ts';
import type { Row, TableName, Tables } from './tables.ts';

/**
 * What writes of one statement are made of: CTEs by their names, as the tables that they are to those after them. Each
 * takes its rows from those before it, so that nothing is written unless what it hangs on was found.
 */
interface WriteParts {
  /** The living issue as it was: nobody else changes it any more. */
  locked: Pick<IssueRow, 'workspaceId' | 'id' | CountedColumn | 'closedUtc'> & {
    /** The database's clock, or the newest entry of the feed if that is later. */
    at: Date;
  };
  /** The issue as it is now. */
  changed: IssueRow;
  /** The comment that is replied to. */
  parent: Pick<Row<'comment'>, 'id' | 'authorUserAccountId'> & Pick<Row<'member'>, 'displayName'>;
  /** New comments, and their places among each other. */
  given: { id: string; place: number };
  /** The number of a new issue. */
  numbered: { workspaceId: string; number: number; at: Date };
  /** What is taken from the counts of deliveries and projects, and what is put in. */
  counted: { workspaceId: string; deliveryId: string | null; projectId: string | null } & Record<
    'sign' | 'closed' | 'completed' | 'canceled' | 'estimate',
    number
  >;
}

type CountedColumn = 'statusRank' | 'deliveryId' | 'projectId' | 'estimateValue';

/** Builds parts; the tenant guard sees them when the statement is whole. */
export type Parts = Kysely<Tables & WriteParts>;

export function partsOf(db: Kysely<Tables>): Parts {
  const bare: unknown = db.withoutPlugins();
  return bare as Parts;
}

/** A part and its name. One that writes runs, whether another reads it or not. */
export type Part = readonly [name: string, query: Pick<Expression<unknown>, 'toOperationNode'>];

/** A statement that begins with the parts, in their order. */
export function composed(
  db: Kysely<Tables>,
  parts: readonly (Part | undefined)[],
): QueryCreator<Tables & WriteParts> {
  let query: unknown = db;
  for (const part of parts) {
    // What a name stands for is declared above, not inferred.
    if (part) query = (query as Parts).with(part[0], () => part[1] as Expression<object>);
  }
  return query as QueryCreator<Tables & WriteParts>;
}

/** The columns of an insert in the order of what is selected for them. */
export function columnsOf<Name extends TableName>(
  values: { readonly [Column in keyof Row<Name> & string]?: Expression<unknown> },
) {
  const given = Object.entries<Expression<unknown> | undefined>(values);
  return {
    columns: given.map(([column]) => column as keyof Row<Name> & string),
    selections: given.map(([column, value]) => sql`${value}`.as(column)) as AliasedExpression<
      unknown,
      string
    >[],
  };
}

/**
 * Finds a living issue by what a client calls it, perhaps at one revision alone, and locks it. No join: that would lose
 * a row which changed meanwhile.
 */
export function lockedIssue(parts: Parts, named: 'key' | 'id' | 'number', revision = false): Part {
  const rows = parts
    .selectFrom('issue')
    .select(['workspaceId', 'id', 'statusRank', 'deliveryId', 'projectId', 'estimateValue', 'closedUtc'])
    .select(laterThanFeed.as('at'))
    .where('workspaceId', '=', slot('workspaceId'))
    .where('deletedUtc', 'is', null)
    .$if(revision, (query) => query.where('revision', '=', slot<number>('expectedRevision')))
    .forNoKeyUpdate();
  if (named === 'id') return ['locked', rows.where('id', '=', typed('id', 'uuid'))];
  const numbered = rows.where('number', '=', slot<number>('number'));
  if (named === 'number') return ['locked', numbered.where('teamId', '=', typed('teamId', 'uuid'))];
  const team = parts
    .selectFrom('team')
    .select('id')
    .where('workspaceId', '=', slot('workspaceId'))
    .where('code', '=', slot('teamCode'));
  return ['locked', numbered.where('teamId', '=', team)];
}

// The statement's own time is older than its wait for the lock.
const laterThanFeed = sql<Date>`date_trunc('milliseconds', greatest(clock_timestamp(), last_activity_utc))`;

/** The entry in the feed of a changed issue. */
export function enteredInFeed(parts: Parts, text: Expression<string>): Part {
  const { columns, selections } = columnsOf<'activity'>({
    workspaceId: sql.ref('changed.workspace_id'),
    issueId: sql.ref('changed.id'),
    sortOrder: sql.ref('changed.activity_count'),
    id: typed('activityId', 'uuid'),
    eventType: typed('eventType', 'text'),
    actorUserAccountId: typed('actor', 'uuid'),
    occurredUtc: sql.ref('changed.last_activity_utc'),
    iconCss: typed('iconCss', 'text'),
    text,
  });
  return [
    'entered',
    parts.insertInto('activity').columns(columns).expression(parts.selectFrom('changed').select(selections)),
  ];
}

/** People who follow a changed issue from now on, if they do not yet. */
export function followedBy(parts: Parts): Part {
  return [
    'followed',
    parts
      .insertInto('issueSubscription')
      .columns(['workspaceId', 'issueId', 'userAccountId'])
      .expression(
        parts
          .selectFrom('changed')
          .select([
            'workspaceId',
            'id',
            sql<string>`unnest(${typed('followers', 'uuid[]')})`.as('userAccountId'),
          ]),
      )
      .onConflict((conflict) => conflict.doNothing()),
  ];
}

/** Is a status of this rank in one of these categories, whose codes each run gives under these names. */
export function inCategories(
  statusRank: Expression<number>,
  ...names: readonly ('completed' | 'canceled')[]
): Expression<SqlBool> {
  const codes = sql.join(names.map((name) => typed(name, 'int')));
  return sql<SqlBool>`(${statusRank} / 10000 in (${codes}))`;
}
