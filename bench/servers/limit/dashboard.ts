import { list, nodes, object, objectOrNull, priority } from './json.ts';

/** W1, W1t and W1f. $1 workspace, $2 team codes. */
export function dashboard({ totals = false, openOnly = false }): string {
  const shown = (total: string) => (totals ? total : undefined);
  const total = (from: string) => shown(`select count(*) from ${from}`);
  const issuesOf = `issue i where i.workspace_id = $1 and i.team_id = t.id and i.deleted_utc is null ${openOnly ? 'and not (select s.is_terminal from status s where s.workspace_id = $1 and s.id = i.status_id)' : ''}`;
  const commentsOf = 'comment c where c.workspace_id = $1 and c.issue_id = i.id and c.deleted_utc is null';
  const projectsOf = 'project p where p.workspace_id = $1 and p.team_id = t.id';
  const teamsOf = 'team t where t.workspace_id = $1 and t.state = 1 and t.code = any($2)';
  const comments = nodes(
    `select c.body as "bodyText", ${object('m.display_name as "displayName"')} as author
     from (select c.* from ${commentsOf} order by c.created_utc, c.id limit 3) c
     join member m on m.workspace_id = $1 and m.user_account_id = c.author_user_account_id
     order by c.created_utc, c.id`,
    shown('i.comment_count'),
  );
  const issues = nodes(
    `select t.code || '-' || i.number as key, i.title, ${priority('i.priority')} as priority, i.due_date as "dueDate",
       ${object('s.name, s.color')} as status,
       ${objectOrNull('a.id is not null', 'a.display_name as "displayName", a.avatar_url as "avatarUrl"')} as "primaryAssignee",
       ${list(`select l.name, l.color from issue_label il join label l on l.workspace_id = $1 and l.id = il.label_id
               where il.workspace_id = $1 and il.issue_id = i.id order by l.name_fold, l.id`)} as labels,
       ${comments} as comments
     from (select i.* from ${issuesOf} order by i.updated_utc desc, i.id desc limit 20) i
     join status s on s.workspace_id = $1 and s.id = i.status_id
     left join member a on a.workspace_id = $1 and a.user_account_id = i.primary_assignee_user_account_id
     order by i.updated_utc desc, i.id desc`,
    shown('select n.issue_count from team_counter n where n.workspace_id = $1 and n.team_id = t.id'),
  );
  const projects = nodes(
    `select p.key, p.name, (select coalesce(round(100.0 * sum(n.completed_issue_count) / nullif(sum(n.issue_count), 0)), 0)::int
       from project_count n where n.workspace_id = $1 and n.project_id = p.id) as "progressPercent"
     from ${projectsOf} order by p.name_fold, p.id limit 5`,
    total(projectsOf),
  );
  const teams = nodes(
    `select t.code, t.name,
       (select row_to_json(m) from (select display_name as "displayName" from member
        where workspace_id = $1 and user_account_id = t.lead_user_account_id) m) as lead,
       ${projects} as projects, ${issues} as issues
     from (select t.* from ${teamsOf} order by t.name_fold, t.id limit 10) t order by t.name_fold, t.id`,
    total(teamsOf),
  );
  return `select '{"data":{"teams":' || ${teams}::text || '}}'`;
}
