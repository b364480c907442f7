import { createdUtc, minTimeBeforePurge, type Rule } from './rule.ts';

/**
 * Rules about the numbers of issues and about the counters of teams from which they are taken. The rows of purged issues leave
 * gaps in the numbers, but no row is purged within 30 days of its creation. Numbers are in the order of creation, so a gap is a
 * fault if the issues before it are newer than that.
 */
export const numberRules: readonly Rule[] = [
  {
    name: 'numbers of a team have no gaps, except those of purged issues',
    statement: `
      select n.workspace_id, t.code || '-' || n.number as key,
        format('the %s numbers before it are missing, and are too recent to have been purged', n.number - n.before - 1) as detail
      from (
        select workspace_id, team_id, number, coalesce(lag(number) over w, 0) as before, max(${createdUtc}) over
          (partition by workspace_id, team_id order by number rows between unbounded preceding and 1 preceding) as created_utc
        from issue window w as (partition by workspace_id, team_id order by number)
      ) n join team t on t.workspace_id = n.workspace_id and t.id = n.team_id
      where n.number <> n.before + 1 and coalesce(n.created_utc, t.created_utc) > now() - ${minTimeBeforePurge}`,
  },
  {
    name: 'the counter of a team is at its next number',
    covers: ['team_counter.next_issue_number'],
    statement: `
      select t.workspace_id, t.code as key,
        format('next_issue_number %s, newest number %s', c.next_issue_number, n.newest) as detail
      from team t
        left join team_counter c on c.workspace_id = t.workspace_id and c.team_id = t.id
        left join (select workspace_id, team_id, max(number) as newest, max(${createdUtc}) as created_utc
          from issue group by 1, 2) n on n.workspace_id = t.workspace_id and n.team_id = t.id
      where coalesce(c.next_issue_number, 1) <= coalesce(n.newest, 0)
        or (coalesce(c.next_issue_number, 1) > coalesce(n.newest, 0) + 1
          and coalesce(n.created_utc, t.created_utc) > now() - ${minTimeBeforePurge})`,
  },
  {
    name: 'the counter of a team counts its issues that are not deleted',
    covers: ['team_counter.gone_issue_count', 'team_counter.issue_count'],
    statement: `
      select t.workspace_id, t.code as key,
        format('issue_count %s, counted %s', coalesce(c.issue_count, 0), coalesce(i.counted, 0)) as detail
      from team t
        left join team_counter c on c.workspace_id = t.workspace_id and c.team_id = t.id
        left join (select workspace_id, team_id, count(*) as counted from issue where deleted_utc is null group by 1, 2) i
          on i.workspace_id = t.workspace_id and i.team_id = t.id
      where coalesce(c.issue_count, 0) <> coalesce(i.counted, 0)`,
  },
];
