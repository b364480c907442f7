import { limits } from '../../model/limits.ts';
import { between, equals } from '../comparators.ts';
import { ActivityDocument } from '../operations.generated.ts';
import { page } from '../params.ts';
import { list } from '../replies.ts';
import { route } from '../route.ts';
import { activityEntry } from '../shapes/activity.ts';
import { dateTime, id, text } from '../values.ts';
import { issueKey } from './issue-key.ts';

/** GET /v1/issues/{issueKey}/activity */
export const activity = route({
  method: 'GET',
  path: '/v1/issues/{issueKey}/activity',
  scope: 'issues:read',
  summary: 'Lists the activity of an issue, oldest first.',
  parameters: {
    issueKey,
    ...page,
    actor_user_account_id: id('user', 'Events that this account caused.'),
    event_type: text('Events of this type, such as `issue.updated.v1`.', { maxLength: limits.eventType }),
    from_utc: dateTime('Events at this time or later.'),
    to_utc: dateTime('Events at this time or earlier.'),
  },
  operation: ActivityDocument,
  variables: (p) => ({
    key: p.issueKey,
    first: p.page_size,
    after: p.cursor,
    filter: {
      actorUserAccountId: equals(p.actor_user_account_id),
      eventType: equals(p.event_type),
      occurredUtc: between(p.from_utc, p.to_utc),
    },
  }),
  pick: 'issue.activity',
  reply: list(activityEntry),
});
