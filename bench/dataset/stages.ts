/**
 * SQL for the stages of the issues: each was open for a day, then active for a day, as far as it has come. The present
 * stage has the number 1.
 */
export const stages = `
insert into issue_stage (workspace_id, issue_id, sort_order, since_utc, until_utc, team_id, status_id, delivery_id,
  project_id, estimate_value)
select i.workspace_id, i.id, 1 - last + place, i.created_utc + place * interval '1 day',
  case when place < last then i.created_utc + (place + 1) * interval '1 day' end, i.team_id,
  case when place = last then i.status_id else earlier.id end, i.delivery_id, i.project_id, i.estimate_value
from issue i
  cross join lateral (select least(greatest(i.status_rank / 10000 - 2, 0), 2) as last) come
  cross join lateral generate_series(0, last) place
  join status earlier on earlier.workspace_id = i.workspace_id and earlier.team_id = i.team_id
    and earlier.category = place + 2;
update issue set started_utc = created_utc + interval '1 day' where status_rank >= 30000;
`;

/** What the issues were before their stages. */
export const stagesBefore = `
update issue_stage s set previous_status_id = p.status_id, previous_deleted = coalesce(p.deleted, true)
from issue_stage x left join issue_stage p
  on p.workspace_id = x.workspace_id and p.issue_id = x.issue_id and p.sort_order = x.sort_order - 1
where s.workspace_id = x.workspace_id and s.issue_id = x.issue_id and s.sort_order = x.sort_order`;
