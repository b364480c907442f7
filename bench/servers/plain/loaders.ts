import DataLoader from 'dataloader';
import type { Caller } from '../caller.ts';
import { type Row, rows } from './database.ts';

export interface Context {
  readonly caller: Caller;
  readonly loaders: Loaders;
}

/**
 * The loaders of a request: rows by key, and lists and pages of children by parent, as in the documentation of
 * DataLoader.
 */
export type Loaders = ReturnType<typeof createLoaders>;

export interface PageArguments {
  readonly first: number;
  readonly openOnly?: boolean;
  readonly updatedFirst?: boolean;
}

export function createLoaders({ workspaceId, userAccountId }: Caller) {
  const byColumn = (table: string, column: string) =>
    new DataLoader<string, Row>(async (keys) => {
      const found = await rows(`select * from ${table} where workspace_id = $1 and ${column} = any($2)`, [
        workspaceId,
        keys,
      ]);
      const byKey = new Map(found.map((row) => [row[column], row]));
      return keys.map((key) => byKey.get(key) ?? new Error(`no ${table}`));
    });
  /** The rows of `sql` have a column `parent`. */
  const lists = (sql: string, more: unknown[] = []) =>
    new DataLoader<string, Row[]>(async (parents) => {
      const found = Map.groupBy(await rows(sql, [workspaceId, parents, ...more]), (row) => row['parent']);
      return parents.map((parent) => found.get(parent) ?? []);
    });
  const counts = (sql: string) =>
    new DataLoader<string, number>(async (parents) => {
      const found = new Map(
        (await rows(sql, [workspaceId, parents])).map(({ parent, count }) => [parent, count]),
      );
      return parents.map((parent) => found.get(parent) ?? 0);
    });
  const pages = new Map<string, DataLoader<string, Row[]>>();
  /** One loader for each field with its arguments. */
  const page = (name: string, sql: string, values: unknown[]) => {
    const key = JSON.stringify([name, values]);
    const loader = pages.get(key) ?? lists(sql, values);
    pages.set(key, loader);
    return loader;
  };
  const open =
    'and (select not s.is_terminal from status s where s.workspace_id = $1 and s.id = x.status_id)';
  return {
    team: byColumn('team', 'id'),
    status: byColumn('status', 'id'),
    project: byColumn('project', 'id'),
    delivery: byColumn('delivery', 'id'),
    label: byColumn('label', 'id'),
    member: byColumn('member', 'user_account_id'),
    labels:
      lists(`select il.issue_id as parent, l.* from issue_label il join label l on l.workspace_id = $1 and l.id = il.label_id
      where il.workspace_id = $1 and il.issue_id = any($2) order by l.name_fold, l.id`),
    assignees: lists(`select ia.issue_id as parent, m.* from issue_assignee ia
      join member m on m.workspace_id = $1 and m.user_account_id = ia.user_account_id
      where ia.workspace_id = $1 and ia.issue_id = any($2) order by ia.position, m.display_name_fold, m.id`),
    roleAssignments: lists(`select issue_id as parent, * from issue_role_assignment
      where workspace_id = $1 and issue_id = any($2) order by role, user_account_id`),
    deliveryCounts:
      lists(`select delivery_id as parent, sum(issue_count)::int as issues, sum(closed_issue_count)::int as closed,
      sum(estimated_scope)::int as scope, sum(closed_estimate)::int as closed_scope
      from delivery_count where workspace_id = $1 and delivery_id = any($2) group by 1`),
    projectCounts:
      lists(`select project_id as parent, sum(issue_count)::int as issues, sum(completed_issue_count)::int as completed
      from project_count where workspace_id = $1 and project_id = any($2) group by 1`),
    subscribed: counts(`select issue_id as parent, 1 as count from issue_subscription
      where workspace_id = $1 and issue_id = any($2) and user_account_id = '${userAccountId}'`),
    projectsOfTeam: ({ first }: PageArguments) =>
      page(
        'projects',
        `select p.parent, x.* from unnest($2::uuid[]) p(parent) cross join lateral (select * from project x
        where x.workspace_id = $1 and x.team_id = p.parent order by name_fold, id limit $3) x`,
        [first],
      ),
    issuesOfTeam: ({ first, openOnly, updatedFirst }: PageArguments) => {
      const order = updatedFirst ? 'updated_utc desc, id desc' : 'created_utc desc, id desc';
      return page(
        `issues ${openOnly} ${order}`,
        `select p.parent, x.* from unnest($2::uuid[]) p(parent) cross join lateral (
        select * from issue x where x.workspace_id = $1 and x.team_id = p.parent and x.deleted_utc is null ${openOnly ? open : ''}
        order by ${order} limit $3) x`,
        [first],
      );
    },
    commentsOfIssue: ({ first }: PageArguments) =>
      page(
        'comments',
        `select p.parent, x.* from unnest($2::uuid[]) p(parent) cross join lateral (select * from comment x
        where x.workspace_id = $1 and x.issue_id = p.parent and x.deleted_utc is null
        order by created_utc, id limit $3) x`,
        [first],
      ),
    projectTotals: counts(
      `select team_id as parent, count(*) from project where workspace_id = $1 and team_id = any($2) group by 1`,
    ),
    issueTotals: counts(`select team_id as parent, count(*) from issue
      where workspace_id = $1 and team_id = any($2) and deleted_utc is null group by 1`),
    openIssueTotals: counts(`select x.team_id as parent, count(*) from issue x
      where workspace_id = $1 and team_id = any($2) and deleted_utc is null ${open} group by 1`),
    commentTotals: counts(`select issue_id as parent, count(*) from comment
      where workspace_id = $1 and issue_id = any($2) and deleted_utc is null group by 1`),
  };
}
