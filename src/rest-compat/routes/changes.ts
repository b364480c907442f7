import { limits } from '../../model/limits.ts';
import { between, equals } from '../comparators.ts';
import { ChangesDocument } from '../operations.generated.ts';
import { lastEventId, page, withDefault } from '../params.ts';
import { log } from '../replies.ts';
import { route } from '../route.ts';
import { changePage } from '../shapes/changes.ts';
import { cursor, dateTime, id, integer, text } from '../values.ts';

/** GET /v1/changes */
export const changes = route({
  method: 'GET',
  path: '/v1/changes',
  scope: 'issues:read',
  summary: 'Reads the changes of the workspace, oldest first, and can wait for new ones.',
  parameters: {
    cursor: cursor(
      'The changes after this cursor: that of an earlier answer, or of a change. When omitted, the page starts at the beginning of the log.',
      limits.changeCursor,
    ),
    page_size: page.page_size,
    wait: withDefault(
      '0',
      integer('The number of seconds to wait if there is no such change yet.', {
        minimum: 0,
        maximum: limits.changesWaitSeconds,
      }),
    ),
    event_type: text('Events of this type, such as `issue.updated.v1`.', { maxLength: limits.eventType }),
    issue_id: id('issue', 'Events of this issue and of everything that belongs to it.'),
    team_id: id('team', 'Events of this team, its issues and everything else that belongs to it.'),
    actor_user_account_id: id('user', 'Events that this account caused.'),
    from_utc: dateTime('Events at this time or later.'),
    to_utc: dateTime('Events at this time or earlier.'),
    ...lastEventId,
  },
  operation: ChangesDocument,
  variables: (p) => ({
    after: p['Last-Event-ID'] || p.cursor,
    first: p.page_size,
    waitSeconds: p.wait,
    filter: {
      eventType: equals(p.event_type),
      issueId: equals(p.issue_id),
      teamId: equals(p.team_id),
      actorUserAccountId: equals(p.actor_user_account_id),
      occurredUtc: between(p.from_utc, p.to_utc),
    },
  }),
  pick: 'changes',
  reply: log(changePage),
  failures: ['cursor_expired', 'too_many_streams'],
  restNames: { waitSeconds: 'wait' },
});
