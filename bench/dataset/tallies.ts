import { countedTallies } from '../../src/db/issue-tallies.ts';

/** SQL for the tallies of the issues. */
export const tallies = `
insert into issue_tally (workspace_id, kind, group_id, team_id, status_id, priority, slot, issue_count, estimate_sum)
select workspace_id, kind, group_id, team_id, status_id, priority, 0, issue_count, estimate_sum
from (${countedTallies('issue')}) counted;
`;
