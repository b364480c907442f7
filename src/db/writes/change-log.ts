import { type AliasedExpression, type Expression, sql } from 'kysely';
import { columnTypes, type SettableColumn } from '../../model/issue-columns.ts';
import { issueFields } from '../../model/issue-fields.ts';
import { limits } from '../../model/limits.ts';
import type { EventType } from '../../model/events.ts';
import { typed } from '../query/slots.ts';
import type { Trx } from '../engine/transaction.ts';
import type { NewRow } from '../tables/tenant-tables.ts';
import { columnsOf, type Part, type Parts } from './write-parts.ts';

// Writes append to the log of changes here, in the statement or the transaction of the write. The sequencer gives the
// changes their positions after the commit (src/live/sequencer.ts).

/** The log entry that a statement adds for each of the issues that it writes. */
export interface WriteEvent {
  eventType: EventType;
  /** A code of `changeOrigin`. */
  origin: number;
  /** The icon of the entries in the feeds, where there are any. */
  iconCss?: string;
}

/** What a statement logs of an issue in `changed`, as expressions over its parts. */
export interface LoggedWrite {
  id: Expression<unknown>;
  actor: Expression<unknown>;
  request: Expression<unknown>;
  /** What the event is about. */
  subject: Expression<unknown>;
  at: Expression<unknown>;
  fields?: Expression<unknown>;
  previous?: Expression<unknown>;
  /** How many changes of the same issue come after it in the statement. */
  later?: Expression<unknown>;
}

/** Appends to the log: a change for each of the rows that `from` selects. */
export function logged(
  parts: Parts,
  { id, actor, request, subject, at, later = sql.lit(0), ...values }: LoggedWrite,
  from: (selections: AliasedExpression<unknown, string>[]) => Expression<unknown>,
): Part {
  const { columns, selections } = columnsOf<'changeInbox'>({
    changeId: id,
    sortOrder: sql`${sql.ref('changed.revision')} + ${sql.ref('changed.activityCount')} - ${later}`,
    eventType: typed('eventType', 'text'),
    occurredUtc: at,
    actorUserAccountId: actor,
    issueId: sql.ref('changed.id'),
    teamId: sql.ref('changed.teamId'),
    subjectId: subject,
    origin: typed('origin', 'smallint'),
    requestId: request,
    ...values,
  });
  return ['logged', parts.insertInto('changeInbox').columns(columns).expression(from(selections))];
}

/** The values of fields before the write, by the names of the fields; long texts are left null. */
export function previousValues(columns: readonly SettableColumn[]): Expression<unknown> {
  const given = sql.ref('changed.previous');
  const pairs = columns.flatMap((column) => (Object.hasOwn(issueFields, column) ? pairOf(column) : []));
  if (pairs.length === 0) return given;
  return sql`jsonb_build_object(${sql.join(pairs)}) || coalesce(${given}, '{}'::jsonb)`;
}

function pairOf(column: SettableColumn): Expression<unknown>[] {
  const field: object | undefined = Object.entries(issueFields).find(([name]) => name === column)?.[1];
  const isLong = field !== undefined && 'max' in field && Number(field.max) > limits.title;
  const value = isLong ? sql`null::${sql.raw(columnTypes[column])}` : sql.ref(`locked.${column}`);
  return [sql.lit(column), value];
}

/** Changes in one statement: far fewer parameters than the 65,535 that the protocol allows. */
const changesPerStatement = 500;

/** Appends changes to the log that no statement of an issue logs: of directories, attachments and imports. */
export async function logChanges(trx: Trx, changes: readonly NewRow<'changeInbox'>[]): Promise<void> {
  for (let from = 0; from < changes.length; from += changesPerStatement) {
    await trx
      .insertInto('changeInbox')
      .values(changes.slice(from, from + changesPerStatement))
      .execute();
  }
}
