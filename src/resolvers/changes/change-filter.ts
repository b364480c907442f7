import type { Predicate } from '../../db/query/conditions/predicate.ts';
import type { ChangeRow } from '../../db/reads/change-pages.ts';
import { type ComparedColumn, numericKey, rowTest, type RowTest } from '../../reference/row-test.ts';

export type ChangeTest = RowTest<ChangeRow>;

/**
 * Compiles a filter of changes to a function with the same result as SQL; undefined if only SQL can evaluate the
 * filter.
 */
export function changeTest(predicate: Predicate): ChangeTest | undefined {
  return rowTest(predicate, { column: (name) => columns[name], related: () => undefined });
}

type TextColumn = 'eventType' | 'issueId' | 'teamId' | 'actorUserAccountId';

const textColumn = (name: TextColumn): ComparedColumn<ChangeRow> => ({
  comparisons: 'parts',
  read: (change) => change[name],
  key: (value) => (typeof value === 'string' ? value : undefined),
});

/** The columns that a filter of changes reads. Ids are in lower case already. */
const columns: Readonly<Record<string, ComparedColumn<ChangeRow>>> = {
  eventType: textColumn('eventType'),
  issueId: textColumn('issueId'),
  teamId: textColumn('teamId'),
  actorUserAccountId: textColumn('actorUserAccountId'),
  origin: { comparisons: 'order', read: ({ origin }) => origin, key: numericKey },
  occurredUtc: {
    comparisons: 'order',
    read: ({ occurredUtc }) => occurredUtc.getTime(),
    key: numericKey,
  },
};
