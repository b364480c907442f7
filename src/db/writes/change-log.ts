import { type AliasedExpression, type Expression, sql } from 'kysely';
import { columnTypes, type SettableColumn } from '../../model/issue-columns.ts';
import { issueFields } from '../../model/issue-fields.ts';
import { limits } from '../../model/limits.ts';
import type { EventType } from '../../model/events.ts';
import { typedSlot } from '../statements/slots.ts';
import { valueBefore } from './issue-parts.ts';
import { columnsOf, type Part, type Parts } from './write-parts.ts';

// Writes of issues append to the log of changes here, in their statement; others with `logEvents`
// (src/resolvers/changes). The sequencer gives the changes their positions after the commit (src/live/sequencer.ts).

/** The kind of the changes that a statement logs, one for each issue that it writes. */
export interface WriteEvent {
  eventType: EventType;
  /** A code of `changeOrigin`. */
  origin: number;
  /** The icon of the entries in the feeds, if the event has such entries. */
  iconCss?: string;
}

/** The values of a logged change of an issue in `changed`, as expressions over the parts of the statement. */
interface LoggedWrite {
  id: Expression<unknown>;
  actor: Expression<unknown>;
  request: Expression<unknown>;
  /** The id of the object that the event is about. */
  subject: Expression<unknown>;
  at: Expression<unknown>;
  fields?: Expression<unknown>;
  previous?: Expression<unknown>;
  /** How many changes of the same issue come after it in the statement. */
  later?: Expression<unknown>;
}

/** The part that appends to the log: a change for each of the rows that `from` selects. */
export function logPart(
  parts: Parts,
  { id, actor, request, subject, at, later = sql.lit(0), ...values }: LoggedWrite,
  from: (selections: AliasedExpression<unknown, string>[]) => Expression<unknown>,
): Part {
  const { columns, selections } = columnsOf<'changeInbox'>({
    changeId: id,
    sortOrder: sql`${sql.ref('changed.revision')} + ${sql.ref('changed.activityCount')} - ${later}`,
    eventType: typedSlot('eventType', 'text'),
    occurredUtc: at,
    actorUserAccountId: actor,
    issueId: sql.ref('changed.id'),
    teamId: sql.ref('changed.teamId'),
    subjectId: subject,
    origin: typedSlot('origin', 'smallint'),
    requestId: request,
    ...values,
  });
  return ['logged', parts.insertInto('changeInbox').columns(columns).expression(from(selections))];
}

/** The values of fields before the write, as JSON by the names of the fields; null in place of long texts. */
export function previousValues(columns: readonly SettableColumn[]): Expression<unknown> {
  const requested = sql.ref('changed.previous');
  const shown = new Set(columnsWithPrevious(columns));
  const pairs = columns
    .filter((column) => Object.hasOwn(issueFields, column))
    .flatMap((column) => [
      sql.lit(column),
      shown.has(column) ? valueBefore(column) : sql`null::${sql.raw(columnTypes[column])}`,
    ]);
  if (pairs.length === 0) return requested;
  return sql`jsonb_build_object(${sql.join(pairs)}) || coalesce(${requested}, '{}'::jsonb)`;
}

/** The columns whose previous values the log stores: those of fields, but not long texts. */
export function columnsWithPrevious(columns: readonly SettableColumn[]): SettableColumn[] {
  return columns.filter((column) => {
    const field = Object.entries(issueFields).find(([name]) => name === column)?.[1];
    return field !== undefined && !(field.kind === 'text' && field.max > limits.title);
  });
}
