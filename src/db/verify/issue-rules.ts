import { cycleRule } from './cycles.ts';
import { countedByIssue, faultyIssues, onIssue, type Rule } from './rule.ts';

/** Rules about the columns of an issue and about the rows that belong to it. */
export const issueRules: readonly Rule[] = [
  {
    name: 'comment_count and last_comment_utc of an issue match its comments that are not deleted',
    covers: ['issue.comment_count', 'issue.last_comment_utc'],
    statement: faultyIssues(
      `format('comment_count %s, counted %s; last_comment_utc %s, newest %s',
        i.comment_count, coalesce(c.counted, 0), i.last_comment_utc, c.newest)`,
      `left join ${countedByIssue('comment', 'deleted_utc is null', ', max(created_utc) as newest')} c on ${onIssue('c')}
       where i.comment_count <> coalesce(c.counted, 0) or i.last_comment_utc is distinct from c.newest`,
    ),
  },
  {
    name: 'link_count of an issue is the number of its links that are not deleted',
    covers: ['issue.link_count'],
    statement: faultyIssues(
      `format('link_count %s, counted %s', i.link_count, coalesce(l.counted, 0))`,
      `left join ${countedByIssue('issue_link', 'deleted_utc is null')} l on ${onIssue('l')}
       where i.link_count <> coalesce(l.counted, 0)`,
    ),
  },
  {
    name: 'sub_issue_count of an issue is the number of its sub-issues that are not deleted',
    covers: ['issue.sub_issue_count'],
    statement: faultyIssues(
      `format('sub_issue_count %s, counted %s', i.sub_issue_count, coalesce(s.counted, 0))`,
      `left join (select workspace_id, parent_issue_id as issue_id, count(*) as counted from issue
         where deleted_utc is null and parent_issue_id is not null group by 1, 2) s on ${onIssue('s')}
       where i.sub_issue_count <> coalesce(s.counted, 0)`,
    ),
  },
  {
    name: 'the parent of an issue is not deleted, and its deleted parent is',
    statement: faultyIssues(
      `case when p.deleted_utc is not null then 'its parent is deleted'
         when i.parent_issue_id is not null then 'it has a parent and a deleted parent'
         else 'its deleted parent is not deleted' end`,
      `left join issue p on p.workspace_id = i.workspace_id and p.id = i.parent_issue_id
       left join issue d on d.workspace_id = i.workspace_id and d.id = i.deleted_parent_issue_id
       where p.deleted_utc is not null or (d.id is not null and d.deleted_utc is null)
         or (i.parent_issue_id is not null and i.deleted_parent_issue_id is not null)`,
    ),
  },
  {
    name: 'issue_text has the title of each issue that is not deleted',
    covers: ['issue_text.title_fold'],
    statement: faultyIssues(
      `case when x.issue_id is null then 'it is not in issue_text' else format('issue_text has %L', x.title_fold) end`,
      `left join issue_text x on ${onIssue('x')}
       where i.deleted_utc is null and x.title_fold is distinct from i.title_fold`,
    ),
  },
  cycleRule,
  {
    name: 'closed_utc is set only in a terminal status',
    statement: faultyIssues(
      `format('closed_utc %s in the status %s', i.closed_utc, s.name)`,
      `join status s on s.workspace_id = i.workspace_id and s.id = i.status_id
       where i.closed_utc is not null and not s.is_terminal`,
    ),
  },
  {
    name: 'times of an issue are in order',
    statement: faultyIssues(
      `format('created %s, updated %s, last activity %s, closed %s',
        i.created_utc, i.updated_utc, i.last_activity_utc, i.closed_utc)`,
      `where i.updated_utc < i.created_utc or i.last_activity_utc < i.created_utc or i.closed_utc < i.created_utc`,
    ),
  },
  {
    name: 'the primary assignee of an issue, if it has one, is its assignee at position 0, and otherwise that position is free',
    statement: faultyIssues(
      `case when a.user_account_id is null then 'no assignee is at position 0' else 'another assignee is at position 0' end`,
      `left join issue_assignee a on ${onIssue('a')} and a.position = 0
       where i.primary_assignee_user_account_id is distinct from a.user_account_id`,
    ),
  },
  {
    name: 'positions of the assignees of an issue are all different',
    statement: faultyIssues(
      `format('%s assignees at position %s', a.counted, a.position)`,
      `join (select workspace_id, issue_id, position, count(*) as counted from issue_assignee
         group by 1, 2, 3 having count(*) > 1) a on ${onIssue('a')}`,
    ),
  },
  {
    name: 'labels of an issue belong to its team or to the whole workspace',
    statement: faultyIssues(
      `format('the label %s belongs to another team', l.name)`,
      `join issue_label x on ${onIssue('x')}
       join label l on l.workspace_id = x.workspace_id and l.id = x.label_id
       where l.team_id <> i.team_id`,
    ),
  },
  {
    name: 'label_ids of an issue are its labels, in their order',
    covers: ['issue.label_ids'],
    statement: faultyIssues(
      `format('label_ids %s, joined %s', i.label_ids, joined.ids)`,
      `cross join lateral (select array(select label_id from issue_label x where ${onIssue('x')} order by label_id) as ids) joined
       where i.label_ids <> joined.ids`,
    ),
  },
  {
    name: 'assignee_user_account_ids of an issue are its assignees, in their order',
    covers: ['issue.assignee_user_account_ids'],
    statement: faultyIssues(
      `format('assignee_user_account_ids %s, joined %s', i.assignee_user_account_ids, joined.ids)`,
      `cross join lateral (select array(select user_account_id from issue_assignee x where ${onIssue('x')}
         order by position, user_account_id) as ids) joined
       where i.assignee_user_account_ids <> joined.ids`,
    ),
  },
  {
    name: 'a reply names the author of the comment that it answers',
    statement: faultyIssues(
      `format('the comment %s', c.id)`,
      `join comment c on ${onIssue('c')}
       left join comment p on p.workspace_id = c.workspace_id and p.id = c.parent_comment_id
       where c.parent_author_user_account_id is distinct from p.author_user_account_id`,
    ),
  },
];
