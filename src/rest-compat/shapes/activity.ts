import { limits } from '../../schema/builder/limits.ts';
import type { ActivityEntryFieldsFragment } from '../operations.generated.ts';
import { id, integer, type Shape, shape, text, timestamp } from '../shape.ts';

/** The specification's Activity entry. */
export const activityEntry: Shape<ActivityEntryFieldsFragment> = shape('ActivityEntry', {
  id: id('activity', (entry) => entry.id),
  eventType: text(limits.name, (entry) => entry.eventType),
  actorUserAccountId: id('user', (entry) => entry.actorUserAccountId),
  occurredUtc: timestamp((entry) => entry.occurredUtc),
  sortOrder: integer((entry) => entry.sortOrder),
  iconCss: text(limits.iconCss, (entry) => entry.iconCss),
  text: text(limits.activity, (entry) => entry.text),
});
