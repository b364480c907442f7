import type { FollowUp } from './follow-ups.ts';
import { partsOf } from './write-parts.ts';

/**
 * Copies new and changed titles to the table in which words are searched. Deleting or restoring an issue copies the
 * title as well, because a server of an earlier version may not have done so.
 */
export const textParts: FollowUp = (db, write) => {
  if (
    write.kind !== 'insert' &&
    !write.columns.some((column) => column === 'title' || column === 'deletedUtc')
  )
    return [];
  const parts = partsOf(db);
  const texts = parts
    .insertInto('issueText')
    .columns(['issueId', 'titleFold'])
    .expression(parts.selectFrom('changed').select(['changed.id', 'changed.titleFold']));
  return [
    [
      'inTexts',
      write.kind === 'insert'
        ? texts
        : texts.onConflict((conflict) =>
            conflict.columns(['issueId']).doUpdateSet((eb) => ({ titleFold: eb.ref('excluded.titleFold') })),
          ),
    ],
  ];
};
