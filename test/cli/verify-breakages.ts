/** The id of the issue that was created last. */
export const youngest = `(select max(id::text)::uuid from issue)`;

/** How raw SQL breaks each rule but those of references, and the key under which verify names it, if one is known. */
export const breakages: Readonly<Record<string, readonly [statement: string, key?: string]>> = {
  'numbers of a team have no gaps, except those of purged issues': [
    `update issue set number = 77 where id = ${youngest}`,
    'BD-77',
  ],
  'the counter of a team is at its next number': [
    `update team_counter set next_issue_number = 3 where team_id = (select id from team where code = 'BD')`,
    'BD',
  ],
  'label_ids of an issue are its labels, in their order': [
    `update issue set label_ids = array[id] where id = ${youngest}`,
    'BD-3',
  ],
  'assignee_user_account_ids of an issue are its assignees, in their order': [
    `update issue set assignee_user_account_ids = array[id] where id = ${youngest}`,
    'BD-3',
  ],
  'the counter of a team counts its issues that are not deleted': [
    `update team_counter set gone_issue_count = 1 where team_id = (select id from team where code = 'BD')`,
    'BD',
  ],
  'comment_count and last_comment_utc of an issue match its comments that are not deleted': [
    `update issue set comment_count = comment_count + 1 where id = ${youngest}`,
    'BD-3',
  ],
  'link_count of an issue is the number of its links that are not deleted': [
    `update issue set link_count = 5 where id = ${youngest}`,
    'BD-3',
  ],
  'sub_issue_count of an issue is the number of its sub-issues that are not deleted': [
    `update issue set sub_issue_count = 1 where id = ${youngest}`,
    'BD-3',
  ],
  'the parent of an issue is not deleted, and its deleted parent is': [
    `update issue set deleted_utc = now() where id = (select parent_issue_id from issue
      where parent_issue_id is not null and deleted_utc is null limit 1)`,
  ],
  'no issue is its own ancestor': [
    `update issue p set parent_issue_id = (select min(c.id::text)::uuid from issue c where c.parent_issue_id = p.id)
      where p.id = (select parent_issue_id from issue where parent_issue_id is not null limit 1)`,
  ],
  'closed_utc is set only in a terminal status': [
    `update issue set closed_utc = now() where id = ${youngest}`,
    'BD-3',
  ],
  'the last stage of an issue has the number in stage_count, has not ended, and equals the issue': [
    `update issue set estimate_value = coalesce(estimate_value, 0) + 1 where id = ${youngest}`,
    'BD-3',
  ],
  'each stage of an issue, except the last, ends when the next one begins': [
    `update issue_stage set until_utc = until_utc + interval '1 second' where ctid =
      (select ctid from issue_stage where until_utc is not null limit 1)`,
  ],
  'each stage of an issue has the status of the stage before, and whether the issue was deleted then': [
    `update issue_stage set previous_deleted = not previous_deleted where issue_id = ${youngest} and sort_order = 1`,
    'BD-3',
  ],
  'issue_text has the title of each issue that is not deleted': [
    `delete from issue_text where issue_id = ${youngest}`,
    'BD-3',
  ],
  'started_utc of an issue is the beginning of one of its stages': [
    `update issue set started_utc = created_utc - interval '1 second' where id = ${youngest}`,
    'BD-3',
  ],
  'the tallies of a status add up to its issues and their estimates, without deleted ones': [
    `update issue_tally set estimate_sum = estimate_sum + 1 where ctid = (select ctid from issue_tally limit 1)`,
  ],
  'times of an issue are in order': [
    `update issue set updated_utc = created_utc - interval '1 day' where id = ${youngest}`,
    'BD-3',
  ],
  'the primary assignee of an issue, if it has one, is its assignee at position 0, and otherwise that position is free':
    [
      `update issue set primary_assignee_user_account_id = reporter_user_account_id where id = ${youngest}`,
      'BD-3',
    ],
  'positions of the assignees of an issue are all different': [
    `update issue_assignee set position = 1 where issue_id = (select issue_id from issue_assignee
      group by issue_id having count(*) > 1 limit 1)`,
  ],
  'labels of an issue belong to its team or to the whole workspace': [
    `insert into issue_label select i.workspace_id, i.id, l.id from issue i join label l on l.team_id <> i.team_id
      where i.id = ${youngest} limit 1`,
    'BD-3',
  ],
  'a reply names the author of the comment that it answers': [
    `update comment set parent_author_user_account_id = (select user_account_id from member limit 1)
      where id = (select min(id::text)::uuid from comment where parent_comment_id is null)`,
  ],
  'positions in a feed go from 1 to activity_count without gaps, the last at last_activity_utc': [
    `update activity set sort_order = 90 where issue_id = (select id from issue where team_id =
      (select id from team where code = 'BD') and number = 1)`,
    'BD-1',
  ],
  'entries of a feed are in the order of time': [
    `update activity set occurred_utc = '2001-01-01' where sort_order = 2`,
  ],
  'entries of a feed have known event types': [`update activity set event_type = 'issue.sung.v1'`],
  'each comment has its entry, except imported ones': [
    `delete from import_source where kind = 'comment' and source_id like 'bd-3/%'`,
    'BD-3',
  ],
  'each deleted comment has the entry of its deletion, except those that were imported as deleted': [
    `update comment set deleted_utc = now(), revision = 2 where issue_id = ${youngest}`,
    'BD-3',
  ],
  'each edit of a comment has its entry, except edits of imported comments': [
    `update comment set revision = revision + 1 where id = (select min(id::text)::uuid from comment)`,
  ],
  'each link has its entry, except those of imported issues': [
    `delete from activity where event_type = 'issue-link.created.v1'`,
  ],
  'each deleted link has the entry of its deletion, except those that were imported as deleted': [
    `update issue_link set deleted_utc = now() where deleted_utc is null`,
  ],
  'each message to or from an agent has its entry, except imported ones': [
    `delete from agent_thread_message where id = (select min(id::text)::uuid from agent_thread_message)`,
  ],
  'each attachment has its entry, except imported ones': [
    `update activity set event_type = 'issue.updated.v1' where event_type = 'issue-attachment.created.v1'`,
  ],
  'an update of an issue is counted once by its revision and has one entry, at updated_utc': [
    `update issue set updated_utc = updated_utc + interval '1 second' where id = (select id from issue order by id limit 1)`,
  ],
  'member_count of a team is the number of its active members': [
    `update team set member_count = 99 where code = 'BD'`,
    'BD',
  ],
  'active_project_count of a team is the number of its projects in an active state': [
    `update team set active_project_count = 99 where code = 'BD'`,
    'BD',
  ],
  'link_count of a project is the number of its links': [`update project set link_count = link_count + 1`],
  'lead_display_name_fold of a project is the folded name of its lead': [
    `update project set lead_display_name_fold = 'x' where lead_user_account_id is not null`,
  ],
  'counts of a delivery are those of its issues that are not deleted': [
    `update delivery_count set closed_estimate = closed_estimate + 1`,
  ],
  'counts of a project are those of its issues that are neither deleted nor canceled': [
    `update project_count set issue_count = issue_count - 1`,
  ],
  'the counts, the last message and the turns of an agent thread are those of its messages': [
    `update agent_thread set message_count = message_count + 1`,
  ],
  'a message is on the issue of its thread': [`update agent_thread_message set issue_id = ${youngest}`],
  'positions in the log go from oldest to position without gaps': [
    `update change_head set position = position + 1`,
    'change_head',
  ],
  'changes of an issue have their positions in the order of its writes': [
    `update change set sort_order = 0 where position = (select max(position) from change where event_type like 'issue-%')`,
  ],
  'the last write of an issue is in the log, if any of its writes is': [
    `update issue set revision = revision + 1 where id = ${youngest}`,
    'BD-3',
  ],
  'a webhook has a next attempt exactly while it is backing off': [
    `update webhook set next_attempt_utc = now()`,
  ],
  'a webhook delivery has a next attempt exactly while it waits, and attempt_count matches its attempts': [
    `update webhook_delivery set attempt_count = attempt_count + 1`,
  ],
  'changes have known event types': [
    `update change set event_type = 'issue.lost.v1' where position = 1`,
    'change 1',
  ],
  'each row that an import created exists, except purged issues': [
    `update import_source set target_id = gen_random_uuid() where kind = 'issue' and source_id = 'bd-2'`,
    'beads:BD bd-2',
  ],
};
