import { faultyIssues, onIssue, type Rule } from './rule.ts';

/** Rules about the stages of issues, which trends are counted from. */
export const stageRules: readonly Rule[] = [
  {
    name: 'the last stage of an issue has the number in stage_count, has not ended, and equals the issue',
    covers: ['issue.stage_count'],
    statement: faultyIssues(
      `case when s.issue_id is null then format('there is no stage %s', i.stage_count)
         when s.until_utc is not null then format('stage %s has ended', i.stage_count)
         else format('stage %s differs from the issue', i.stage_count) end`,
      `left join issue_stage s on ${onIssue('s')} and s.sort_order = i.stage_count
       where s.issue_id is null or s.until_utc is not null
         or (s.team_id, s.status_id, s.delivery_id, s.project_id, s.estimate_value, s.deleted)
           is distinct from (i.team_id, i.status_id, i.delivery_id, i.project_id, i.estimate_value, i.deleted_utc is not null)`,
    ),
  },
  {
    name: 'each stage of an issue, except the last, ends when the next one begins',
    statement: faultyIssues(
      `format('stage %s ends at %s, the next one begins at %s', s.sort_order, s.until_utc, s.next_utc)`,
      `join (select workspace_id, issue_id, sort_order, until_utc,
           lead(since_utc) over stages as next_utc, lead(sort_order) over stages as next_order
         from issue_stage window stages as (partition by workspace_id, issue_id order by sort_order)) s on ${onIssue('s')}
       where s.sort_order <> i.stage_count
         and (s.until_utc is distinct from s.next_utc or s.next_order is distinct from s.sort_order + 1)`,
    ),
  },
  {
    name: 'each stage of an issue has the status of the stage before, and whether the issue was deleted then',
    statement: faultyIssues(
      `format('stage %s does not match the stage before', s.sort_order)`,
      `join issue_stage s on ${onIssue('s')}
       left join issue_stage p on ${onIssue('p')} and p.sort_order = s.sort_order - 1
       where s.previous_status_id is distinct from p.status_id
         or s.previous_deleted is distinct from coalesce(p.deleted, true)`,
    ),
  },
  {
    name: 'started_utc of an issue is the beginning of one of its stages',
    covers: ['issue.started_utc'],
    statement: faultyIssues(
      `format('no stage begins at %s', i.started_utc)`,
      `where i.started_utc is not null and not exists (
         select from issue_stage s where ${onIssue('s')} and s.since_utc = i.started_utc)`,
    ),
  },
];
