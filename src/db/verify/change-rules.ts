import { webhookDeliveryState, webhookState } from '../../model/codes.ts';
import { limits } from '../../model/limits.ts';
import { eventTypes } from '../../model/events.ts';
import { faultyIssues, onIssue, type Rule } from './rule.ts';

/** The changes of issues, both those with a position and those that wait for one. */
const loggedWrites = `(
  select workspace_id, issue_id, max(sort_order) as newest from (
    select workspace_id, issue_id, sort_order from change where issue_id is not null
    union all select workspace_id, issue_id, sort_order from change_inbox where issue_id is not null
  ) logged group by 1, 2)`;

/** The rules of the log of changes. */
export const changeRules: readonly Rule[] = [
  {
    name: 'positions in the log go from oldest to position without gaps',
    covers: ['change_head.position', 'change_head.oldest'],
    statement: `
      select workspace_id, 'change_head' as key,
        format('from %s to %s, counted %s up to %s', h.oldest, h.position, coalesce(c.counted, 0), c.newest) as detail
      from change_head h full join (
        select c.workspace_id, count(*) as counted, max(c.position) as newest
        from change c left join change_head head on head.workspace_id = c.workspace_id
        where head.oldest is null or c.position >= head.oldest group by 1
      ) c using (workspace_id)
      where h.position is null or coalesce(c.counted, 0) <> h.position - h.oldest + 1
        or c.newest <> h.position`,
  },
  {
    name: 'changes of an issue have their positions in the order of its writes',
    statement: faultyIssues(
      `format('at position %s, %s comes after %s', c.position, c.sort_order, c.before)`,
      `join (select workspace_id, issue_id, position, sort_order,
           lag(sort_order) over (partition by workspace_id, issue_id order by position) as before
         from change where issue_id is not null) c
         on ${onIssue('c')}
       where c.sort_order < c.before`,
    ),
  },
  {
    name: 'the last write of an issue is in the log, if any of its writes is',
    statement: faultyIssues(
      `format('revision %s, activity_count %s, newest change %s', i.revision, i.activity_count, l.newest)`,
      `join ${loggedWrites} l on ${onIssue('l')} where l.newest <> i.revision + i.activity_count`,
    ),
  },
  {
    name: 'a webhook has a next attempt exactly while it is backing off',
    covers: ['webhook.next_attempt_utc'],
    statement: `
      select workspace_id, id as key, format('state %s, next attempt %s', state, next_attempt_utc) as detail
      from webhook where (state = ${webhookState.backing_off}) <> (next_attempt_utc is not null)`,
  },
  {
    name: 'a webhook delivery has a next attempt exactly while it waits, and attempt_count matches its attempts',
    covers: ['webhook_delivery.next_attempt_utc', 'webhook_delivery.attempt_count'],
    statement: `
      select workspace_id, id as key,
        format('state %s, %s attempts, next attempt %s', state, attempt_count, next_attempt_utc) as detail
      from webhook_delivery where (state = ${webhookDeliveryState.waiting}) <> (next_attempt_utc is not null)
        or (state = ${webhookDeliveryState.waiting}) <> (finished_utc is null)
        or jsonb_array_length(attempts) <> least(attempt_count, ${limits.webhookAttempts})`,
  },
  {
    name: 'changes have known event types',
    statement: `
      select workspace_id, 'change ' || position as key, event_type as detail from change
      where event_type not in (${eventTypes.map((type) => `'${type}'`).join(', ')})`,
  },
];
