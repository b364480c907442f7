import { idSql } from './ids.ts';
import {
  categories,
  deliveryStates,
  list,
  named,
  object,
  objectOrNull,
  principalKinds,
  priority,
  timestamp,
} from './json.ts';

/** The API whose form an issue has. The names of nested objects and the values of absent fields differ. */
export type Api = 'graph' | 'rest';

/**
 * The values of a row that is being written, which the same statement cannot read: its lists, and the counts of its
 * delivery.
 */
export interface WholeIssueOptions {
  readonly api: Api;
  readonly labels?: string;
  readonly assignees?: string;
  readonly roleAssignments?: string;
  readonly isSubscribed?: string;
  /** SQL that is added to the counts of the delivery. */
  readonly delivery?: Readonly<
    Record<'issueCount' | 'closedIssueCount' | 'estimatedScope' | 'closedEstimate', string>
  >;
}

const empty = (api: Api, column: string) => (api === 'rest' ? `coalesce(${column}, '')` : column);
const enumerated = (api: Api, names: string, column: string) =>
  api === 'rest' ? `lower(${named(names, column)})` : named(names, column);
const coded = (api: Api, names: string, column: string) => (api === 'rest' ? column : named(names, column));

/** The columns of a whole issue `i`, with the joins of `wholeIssueJoins`. $1 workspace, $2 the viewer's account. */
export function wholeIssue(options: WholeIssueOptions): string {
  const { api } = options;
  const team =
    api === 'graph'
      ? `${object('t.name, t.code, t.icon_css as "iconCss", t.color')} as team`
      : 't.code as "teamCode", t.name as "teamName", t.icon_css as "teamIconCss", t.color as "teamColor"';
  const reporter =
    api === 'graph'
      ? `${object('r.display_name as "displayName", r.avatar_url as "avatarUrl"')} as reporter`
      : `r.display_name as "reporterDisplayName", coalesce(r.avatar_url, '') as "reporterAvatarUrl"`;
  return `${idSql('issue', 'i.id')} as id, t.code || '-' || i.number as key, i.title, i.description,
    ${idSql('team', 'i.team_id')} as "teamId", ${team},
    ${idSql('user', 'i.reporter_user_account_id')} as "reporterUserAccountId", ${reporter},
    ${idSql('issue', 'i.parent_issue_id')} as "parentIssueId", ${idSql('status', 'i.status_id')} as "statusId",
    ${api === 'rest' ? 'i.priority' : priority('i.priority')} as priority,
    ${idSql('user', 'i.primary_assignee_user_account_id')} as "primaryAssigneeUserAccountId",
    ${idSql('project', 'i.project_id')} as "projectId", ${idSql('delivery', 'i.delivery_id')} as "deliveryId",
    assigned.ids as "assigneeUserAccountIds", labeled.ids as "labelIds",
    ${object(statusColumns(api))} as status,
    ${objectOrNull('p.id is not null', projectColumns(api))} as project,
    ${objectOrNull('d.id is not null', deliveryColumns(options))} as delivery,
    assigned.list as assignees,
    ${options.roleAssignments ?? roleAssignments} as "roleAssignments",
    labeled.list as labels,
    i.comment_count as "commentCount", i.sub_issue_count as "subIssueCount", i.link_count as "linkCount",
    i.estimate_value as "estimateValue", i.due_date as "dueDate",
    ${timestamp('i.created_utc')} as "createdUtc", ${timestamp('i.updated_utc')} as "updatedUtc",
    ${timestamp('i.last_activity_utc')} as "lastActivityUtc", ${timestamp('i.last_comment_utc')} as "lastCommentUtc",
    ${timestamp('i.closed_utc')} as "closedUtc", ${options.isSubscribed ?? isSubscribed} as "isSubscribed"`;
}

/** The joins that a whole issue `i` needs. */
export function wholeIssueJoins({ api, labels, assignees }: WholeIssueOptions): string {
  return `join team t on t.workspace_id = $1 and t.id = i.team_id
    join status s on s.workspace_id = $1 and s.id = i.status_id
    join member r on r.workspace_id = $1 and r.user_account_id = i.reporter_user_account_id
    left join project p on p.workspace_id = $1 and p.id = i.project_id
    left join delivery d on d.workspace_id = $1 and d.id = i.delivery_id
    left join lateral (select sum(issue_count)::int as issues, sum(closed_issue_count)::int as closed,
        sum(estimated_scope)::int as scope, sum(closed_estimate)::int as closed_scope
      from delivery_count where workspace_id = $1 and delivery_id = i.delivery_id) n on true
    cross join lateral (${listAndIds(
      'id',
      `select ${labelColumns(api)} from (${labels ?? labelLinks}) il
        join label l on l.workspace_id = $1 and l.id = il.label_id
        left join label g on g.workspace_id = $1 and g.id = l.group_id order by l.name_fold, l.id`,
    )}) labeled
    cross join lateral (${listAndIds(
      '"userAccountId"',
      `select ${assigneeColumns(api)} from (${assignees ?? assigneeLinks}) ia
        join member m on m.workspace_id = $1 and m.user_account_id = ia.user_account_id
        order by ia.position, m.display_name_fold, m.id`,
    )}) assigned`;
}

const listAndIds = (id: string, rows: string) =>
  `select coalesce(json_agg(row_to_json(l)), '[]') as list, coalesce(json_agg(l.${id}), '[]') as ids from (${rows}) l`;
const labelLinks = 'select label_id from issue_label where workspace_id = $1 and issue_id = i.id';
const assigneeLinks =
  'select user_account_id, position from issue_assignee where workspace_id = $1 and issue_id = i.id';
const roleAssignments = list(`select ra.role, ${idSql('user', 'ra.user_account_id')} as "userAccountId",
  m.display_name as "displayName" from issue_role_assignment ra
  join member m on m.workspace_id = $1 and m.user_account_id = ra.user_account_id
  where ra.workspace_id = $1 and ra.issue_id = i.id order by ra.role, ra.user_account_id`);
const isSubscribed = `exists (select from issue_subscription u where u.workspace_id = $1 and u.issue_id = i.id
  and u.user_account_id = $2)`;

function statusColumns(api: Api): string {
  const id = idSql('status', 's.id');
  return `${api === 'rest' ? `${id} as "statusId", ` : ''}${id} as id, s.name, s.description, s.color,
    ${enumerated(api, categories, 's.category')} as category, s.position, s.is_initial as "isInitial",
    s.is_terminal as "isTerminal"`;
}

function projectColumns(api: Api): string {
  const id = idSql('project', 'p.id');
  return `${api === 'rest' ? `${id} as "projectId", ` : ''}${id} as id, ${idSql('team', 'p.team_id')} as "teamId",
    p.name, p.key, p.icon_css as "iconCss", p.color`;
}

function deliveryColumns({ api, delivery }: WholeIssueOptions): string {
  const count = (column: string, change: string | undefined) =>
    change === undefined ? `coalesce(n.${column}, 0)` : `coalesce(n.${column}, 0) + ${change}`;
  const today = `(now() at time zone 'utc')::date`;
  return `${idSql('delivery', 'd.id')} as ${api === 'rest' ? '"deliveryId"' : 'id'}, ${idSql('team', 'd.team_id')} as "teamId",
    d.number, d.name, d.description, d.starts_on as "startsOn", d.ends_on as "endsOn",
    ${enumerated(api, deliveryStates, 'd.state')} as state,
    ${count('issues', delivery?.issueCount)} as "issueCount",
    ${count('closed', delivery?.closedIssueCount)} as "closedIssueCount",
    ${count('scope', delivery?.estimatedScope)} as "estimatedScope",
    ${count('closed_scope', delivery?.closedEstimate)} as "closedEstimate",
    d.starts_on <= ${today} and ${today} <= d.ends_on as "isCurrent", d.starts_on > ${today} as "isUpcoming"`;
}

function labelColumns(api: Api): string {
  const id = idSql('label', 'l.id');
  return `${api === 'rest' ? `${id} as "labelId", ` : ''}${id} as id, l.is_group as "isGroup", l.name, l.description,
    l.color, ${empty(api, idSql('team', 'l.team_id'))} as "teamId",
    ${empty(api, idSql('label', 'l.group_id'))} as "groupId", ${empty(api, 'g.name')} as "groupName"`;
}

function assigneeColumns(api: Api): string {
  return `${idSql('user', 'm.user_account_id')} as "userAccountId", m.display_name as "displayName",
    ${empty(api, 'm.avatar_url')} as "avatarUrl", ${coded(api, principalKinds, 'm.principal_kind')} as "principalKind"`;
}

const whole: WholeIssueOptions = { api: 'graph' };

/** W2. $3 team, $4 a time. It reads one more row than it returns, to find out whether there is a next page. */
export const issuesOfTeam = `
with page as materialized (
  select i.*, row_number() over (order by i.created_utc desc, i.id desc) as place from issue i
  where i.workspace_id = $1 and i.team_id = $3 and i.deleted_utc is null and i.created_utc < $4
  order by i.created_utc desc, i.id desc limit 101)
select '{"data":{"issues":' || ${object(
  `${list(
    `select ${wholeIssue(whole)} from (select * from page where place <= 100) i ${wholeIssueJoins(whole)} order by i.place`,
  )} as nodes, ${object('(select count(*) from page) > 100 as "hasNextPage"')} as "pageInfo"`,
)}::text || '}}'`;

/** W3. $3 team code, $4 number. */
export const issueWithComments = `
select '{"data":{"issue":' || row_to_json(x)::text || '}}' from (
  select ${idSql('issue', 'i.id')} as id, t.code || '-' || i.number as key, i.title, i.description,
    ${priority('i.priority')} as priority, i.due_date as "dueDate", i.estimate_value as "estimateValue",
    ${timestamp('i.created_utc')} as "createdUtc", ${timestamp('i.updated_utc')} as "updatedUtc",
    i.comment_count as "commentCount", ${isSubscribed} as "isSubscribed",
    ${object(`${idSql('team', 't.id')} as id, t.code, t.name`)} as team,
    ${object(`${idSql('status', 's.id')} as id, s.name, s.color, ${named(categories, 's.category')} as category`)} as status,
    ${objectOrNull('p.id is not null', `${idSql('project', 'p.id')} as id, p.key, p.name`)} as project,
    ${objectOrNull('a.id is not null', cardColumns('a'))} as "primaryAssignee",
    ${list(`select ${idSql('label', 'l.id')} as id, l.name, l.color from issue_label il
      join label l on l.workspace_id = $1 and l.id = il.label_id
      where il.workspace_id = $1 and il.issue_id = i.id order by l.name_fold, l.id`)} as labels,
    ${object(
      `${list(`select ${idSql('comment', 'c.id')} as id, c.body as "bodyText", c.is_edited as "isEdited",
        $5::boolean or c.author_user_account_id = $2 as "canManage", ${timestamp('c.created_utc')} as "createdUtc",
        ${object(cardColumns('m'))} as author
      from (select * from comment where workspace_id = $1 and issue_id = i.id and deleted_utc is null
            order by created_utc, id limit 20) c
      join member m on m.workspace_id = $1 and m.user_account_id = c.author_user_account_id
      order by c.created_utc, c.id`)} as nodes, ${object('i.comment_count > 20 as "hasNextPage"')} as "pageInfo"`,
    )} as comments
  from issue i
  join team t on t.workspace_id = $1 and t.code = $3
  join status s on s.workspace_id = $1 and s.id = i.status_id
  left join project p on p.workspace_id = $1 and p.id = i.project_id
  left join member a on a.workspace_id = $1 and a.user_account_id = i.primary_assignee_user_account_id
  where i.workspace_id = $1 and i.team_id = t.id and i.number = $4 and i.deleted_utc is null) x`;

function cardColumns(member: string): string {
  return `${idSql('user', `${member}.user_account_id`)} as "userAccountId", ${member}.display_name as "displayName",
    ${member}.avatar_url as "avatarUrl"`;
}

/** W8. $2 a time and $3 an id, or both null. */
export const issuePage = (isFirst: boolean) => `
with page as materialized (
  select i.*, row_number() over (order by i.created_utc, i.id) as place from issue i
  where i.workspace_id = $1 and i.deleted_utc is null ${isFirst ? '' : 'and (i.created_utc, i.id) > ($2, $3)'}
  order by i.created_utc, i.id limit 51)
select '{"data":{"issues":' || ${object(
  `${list(
    `select ${idSql('issue', 'i.id')} as id, t.code || '-' || i.number as key, i.title, ${priority('i.priority')} as priority,
     ${timestamp('i.created_utc')} as "createdUtc", ${object('s.name, s.color')} as status
   from (select * from page where place <= 50) i
   join team t on t.workspace_id = $1 and t.id = i.team_id
   join status s on s.workspace_id = $1 and s.id = i.status_id order by i.place`,
  )} as nodes, ${object(`(select count(*) from page) > 50 as "hasNextPage",
  (select ${timestamp('created_utc')} || '/' || id from page where place = 50) as "endCursor"`)} as "pageInfo"`,
)}::text || '}}'`;
