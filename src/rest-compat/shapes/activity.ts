import { limits } from '../../model/limits.ts';
import type { ActivityEntryFieldsFragment } from '../operations.generated.ts';
import { id, integer, type Shape, shape, text, timestamp } from '../shape.ts';

/** The specification's Activity entry. */
export const activityEntry: Shape<ActivityEntryFieldsFragment> = shape('ActivityEntry', {
  id: id('activity', 'id'),
  eventType: text(limits.name, 'eventType'),
  actorUserAccountId: id('user', 'actorUserAccountId'),
  occurredUtc: timestamp('occurredUtc'),
  sortOrder: integer('sortOrder'),
  iconCss: text(limits.iconCss, 'iconCss'),
  text: text(limits.activity, 'text'),
});
