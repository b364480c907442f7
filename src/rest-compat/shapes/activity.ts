import type { ActivityEntryFieldsFragment } from '../operations.generated.ts';
import { integer, type Shape, shape, text, timestamp } from '../shape.ts';

/** The specification's Activity entry. */
export const activityEntry: Shape<ActivityEntryFieldsFragment> = shape('ActivityEntry', {
  id: text((entry) => entry.id),
  eventType: text((entry) => entry.eventType),
  actorUserAccountId: text((entry) => entry.actorUserAccountId),
  occurredUtc: timestamp((entry) => entry.occurredUtc),
  sortOrder: integer((entry) => entry.sortOrder),
  iconCss: text((entry) => entry.iconCss),
  text: text((entry) => entry.text),
});
