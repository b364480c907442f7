import { countedTallies, storedTallies } from '../issue-tallies.ts';
import { tallyKinds } from '../tables/tallies.ts';
import type { Rule } from './rule.ts';

const kindNames = Object.entries(tallyKinds)
  .map(([name, kind]) => `when ${kind} then '${name}'`)
  .join(' ');

/** Rules about the tallies of issues, which totals and groupings are added up from. */
export const tallyRules: readonly Rule[] = [
  {
    name: 'the tallies of a status add up to its issues and their estimates, without deleted ones',
    covers: ['issue_tally.issue_count', 'issue_tally.estimate_sum'],
    statement: `
      select t.workspace_id, t.code as key,
        format('status %s, %s %s, priority %s: %s issues too many, estimates %s too high',
          s.name, case kind ${kindNames} end, group_id, wrong.priority, wrong.issues, wrong.estimates) as detail
      from (
        select workspace_id, kind, group_id, team_id, status_id, priority,
          sum(issue_count) as issues, sum(estimate_sum) as estimates
        from (
          ${storedTallies()}
          union all
          select workspace_id, kind, group_id, team_id, status_id, priority, -issue_count, -estimate_sum
          from (${countedTallies('issue')}) counted
        ) difference
        group by 1, 2, 3, 4, 5, 6
        having sum(issue_count) <> 0 or sum(estimate_sum) <> 0
      ) wrong
        join team t on t.workspace_id = wrong.workspace_id and t.id = wrong.team_id
        join status s on s.workspace_id = wrong.workspace_id and s.id = wrong.status_id`,
  },
];
