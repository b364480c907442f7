import {
  type AliasedExpression,
  type Expression,
  type Kysely,
  type QueryCreator,
  type SqlBool,
  sql,
} from 'kysely';
import type { IssueName, IssueRow } from '../issues.ts';
import type { Values } from '../query/prepared.ts';
import { slot, typed } from '../query/slots.ts';
import type { Row, TableName } from '../tables/tables.ts';
import type { TenantDb, TenantTables } from '../tables/tenant-tables.ts';

/**
 * What writes of one statement are made of: CTEs by their names, as the tables that they are to those after them. Each
 * takes its rows from those before it, so that nothing is written unless what it hangs on was found.
 */
interface WriteParts {
  /** The living issue as it was: nobody else changes it any more. */
  locked: Pick<IssueRow, 'id' | CountedColumn | 'closedUtc'> & {
    /** The database's clock, or the newest entry of the feed if that is later. */
    at: Date;
    /** Among several, from 1. */
    place: number;
  };
  /** The issue as it is now; of several its place among them, and how many entries its feed has got. */
  changed: IssueRow & { place: number; count: number; actor: string };
  /** The comment that is replied to. */
  parent: Pick<Row<'comment'>, 'id' | 'authorUserAccountId'> & Pick<Row<'member'>, 'displayName'>;
  /** New comments, and their places among each other. */
  given: { id: string; issue: number; place: number; author: string };
  /** What several changes say of themselves, and their places. */
  asked: { place: number; entry: string; actor: string; text: string };
  /** The numbers' counters of teams, and how many numbers are asked of them. */
  free: { id: string; count: number; place: number };
  /** The first number of a team's new issues, and the place of the team among several. */
  numbered: { teamId: string; number: number; place: number; at: Date };
  /** What is taken from the counts of deliveries and projects, and what is put in. */
  counted: { deliveryId: string | null; projectId: string | null } & Record<
    'sign' | 'closed' | 'completed' | 'canceled' | 'estimate',
    number
  >;
}

type CountedColumn = 'statusRank' | 'deliveryId' | 'projectId' | 'estimateValue';

/** Builds parts; the tenant plugin binds them when the statement is complete. */
export type Parts = Kysely<TenantTables & WriteParts>;

export function partsOf(db: TenantDb): Parts {
  const bare: unknown = db.withoutPlugins();
  return bare as Parts;
}

/** A part and its name. One that writes runs, whether another reads it or not. */
export type Part = readonly [name: string, query: Pick<Expression<unknown>, 'toOperationNode'>];

/** A statement that begins with the parts, in their order. */
export function composed(
  db: TenantDb,
  parts: readonly (Part | undefined)[],
): QueryCreator<TenantTables & WriteParts> {
  let query: unknown = db;
  for (const part of parts) {
    // What a name stands for is declared above, not inferred.
    if (part) query = (query as Parts).with(part[0], () => part[1] as Expression<object>);
  }
  return query as QueryCreator<TenantTables & WriteParts>;
}

/** The columns of an insert in the order of what is selected for them. */
export function columnsOf<Name extends TableName>(
  values: { readonly [Column in Exclude<keyof Row<Name> & string, 'workspaceId'>]?: Expression<unknown> },
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

const lockedColumns = [
  'issue.id',
  'issue.statusRank',
  'issue.deliveryId',
  'issue.projectId',
  'issue.estimateValue',
  'issue.closedUtc',
] as const;

/**
 * Finds a living issue by what a client calls it, perhaps at one revision alone, and locks it. No join: that would lose
 * a row which changed meanwhile.
 */
export function lockedIssue(parts: Parts, named: 'key' | 'id' | 'number', revision = false): Part {
  const rows = parts
    .selectFrom('issue')
    .select(lockedColumns)
    .select(laterThanFeed.as('at'))
    .where('deletedUtc', 'is', null)
    .$if(revision, (query) => query.where('revision', '=', slot<number>('expectedRevision')))
    .forNoKeyUpdate();
  if (named === 'id') return ['locked', rows.where('id', '=', typed('id', 'uuid'))];
  const numbered = rows.where('number', '=', slot<number>('number'));
  if (named === 'number') return ['locked', numbered.where('teamId', '=', typed('teamId', 'uuid'))];
  const team = parts.selectFrom('team').select('id').where('code', '=', slot('teamCode'));
  return ['locked', numbered.where('teamId', '=', team)];
}

/** What several issues are called by, as columns of unnested arrays. */
const calledBy = {
  id: { id: 'uuid' },
  key: { code: 'text', number: 'int' },
  number: { team: 'uuid', number: 'int' },
} as const;

/**
 * Finds living issues by what clients call them, and locks those that nobody else has locked: who writes on several waits
 * for none of them, and so never for somebody who waits for another.
 */
export function freeIssues(parts: Parts, named: keyof typeof calledBy): Part {
  const columns = Object.entries(calledBy[named]);
  const arrays = sql.join(columns.map(([name, type]) => typed(`called.${name}`, `${type}[]`)));
  const names = sql.raw(columns.map(([name]) => name).join(', '));
  const called = sql<Called>`unnest(${arrays}) with ordinality`.as<'called'>(sql`called(${names}, place)`);
  const rows = parts
    .selectFrom('issue')
    .select(lockedColumns)
    .select([laterThanFeed.as('at'), sql<number>`called.place::int`.as('place')])
    .where('issue.deletedUtc', 'is', null);
  const found = {
    id: () => rows.innerJoin(called, 'called.id', 'issue.id'),
    number: () =>
      rows.innerJoin(called, (join) =>
        join.onRef('called.team', '=', 'issue.teamId').onRef('called.number', '=', 'issue.number'),
      ),
    key: () =>
      rows
        .innerJoin(called, 'called.number', 'issue.number')
        .innerJoin('team', (join) =>
          join.onRef('team.id', '=', 'issue.teamId').onRef('team.code', '=', 'called.code'),
        ),
  };
  return ['locked', found[named]().forNoKeyUpdate('issue').skipLocked()];
}

interface Called {
  id: string;
  code: string;
  team: string;
  number: number;
  place: number;
}

/** One name or several, as their statements take them. */
export function issueNames(names: readonly (IssueName | { teamId: string; number: number })[]): Values {
  const [first] = names;
  return {
    ...first,
    'called.id': names.map((name) => ('id' in name ? name.id : null)),
    'called.code': names.map((name) => ('teamCode' in name ? name.teamCode : null)),
    'called.team': names.map((name) => ('teamId' in name ? name.teamId : null)),
    'called.number': names.map((name) => ('number' in name ? name.number : null)),
  };
}

// The statement's own time is older than its wait for the lock.
const laterThanFeed = sql<Date>`date_trunc('milliseconds', greatest(clock_timestamp(), last_activity_utc))`;

/** The entries in the feed of changed issues, what several of them say after what was asked of each. */
export function enteredInFeed(parts: Parts, several: boolean): Part {
  const { columns, selections } = columnsOf<'activity'>({
    issueId: sql.ref('changed.id'),
    sortOrder: sql.ref('changed.activity_count'),
    id: several ? sql.ref('asked.entry') : typed('activityId', 'uuid'),
    eventType: typed('eventType', 'text'),
    actorUserAccountId: several ? sql.ref('asked.actor') : typed('actor', 'uuid'),
    occurredUtc: sql.ref('changed.last_activity_utc'),
    iconCss: typed('iconCss', 'text'),
    text: several ? sql.ref('asked.text') : typed('text', 'text'),
  });
  const rows = parts
    .selectFrom('changed')
    .$if(several, (query) => query.innerJoin('asked', 'asked.place', 'changed.place'))
    .select(selections);
  return ['entered', parts.insertInto('activity').columns(columns).expression(rows)];
}

/** Who follows changed issues from now on, if they do not yet: rows of a workspace, an issue and an account. */
export function followedBy(parts: Parts, people: Expression<unknown>): Part {
  return [
    'followed',
    parts
      .insertInto('issueSubscription')
      .columns(['issueId', 'userAccountId'])
      .expression(people)
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
