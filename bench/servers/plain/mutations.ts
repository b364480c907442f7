import { randomUUID } from 'node:crypto';
import { GraphQLError } from 'graphql';
import type pg from 'pg';
import { uuidOf } from '../type-id.ts';
import { builder, priorities, Priority } from './builder.ts';
import { pool, type Row, rows } from './database.ts';
import { issueByKey, requireScope } from './queries.ts';
import { Comment, Issue } from './types.ts';

/** Runs one statement after the other in a transaction, as is usual. */
export async function inTransaction<Result>(
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

const refuse = (field: string): never => {
  throw new GraphQLError(`${field} is not valid.`, { extensions: { code: 'VALIDATION_FAILED' } });
};

const IssueCreateInput = builder.inputType('IssueCreateInput', {
  fields: (t) => ({
    teamId: t.id({ required: true }),
    title: t.string({ required: true }),
    description: t.string(),
    statusId: t.id(),
    priority: t.field({ type: Priority }),
    projectId: t.id(),
    deliveryId: t.id(),
    estimateValue: t.int(),
    dueDate: t.field({ type: 'Date' }),
    primaryAssigneeUserAccountId: t.id(),
    labelIds: t.idList(),
  }),
});

const slot = '(abs(pg_backend_pid()) % 32)::smallint';

builder.mutationField('issueCreate', (t) =>
  t.field({
    type: builder.objectRef<{ issue: Row }>('IssueCreatePayload').implement({
      fields: (t) => ({ issue: t.field({ type: Issue, resolve: ({ issue }) => issue }) }),
    }),
    args: { input: t.arg({ type: IssueCreateInput, required: true }) },
    resolve: async (_, { input }, context) => {
      requireScope(context, 'issues:write');
      const { workspaceId, userAccountId } = context.caller;
      if (input.title.length < 1 || input.title.length > 255) refuse('title');
      const issue = await inTransaction(async (client) => {
        const find = async (field: string, prefix: string, id: string | null | undefined, where: string) => {
          if (!id) return null;
          const [row] = await rows(`select * from ${where}`, [workspaceId, uuidOf(prefix, id)], client);
          return row ?? refuse(field);
        };
        const team =
          (await find('teamId', 'team', input.teamId, 'team where workspace_id = $1 and id = $2')) ??
          refuse('teamId');
        const status = input.statusId
          ? await find(
              'statusId',
              'status',
              input.statusId,
              `status where workspace_id = $1 and id = $2 and team_id = '${team['id']}'`,
            )
          : (
              await rows(
                'select * from status where workspace_id = $1 and team_id = $2 and is_initial',
                [workspaceId, team['id']],
                client,
              )
            )[0];
        if (!status) return refuse('statusId');
        const project = await find(
          'projectId',
          'project',
          input.projectId,
          'project where workspace_id = $1 and id = $2',
        );
        const delivery = await find(
          'deliveryId',
          'delivery',
          input.deliveryId,
          `delivery where workspace_id = $1 and id = $2 and team_id = '${team['id']}'`,
        );
        const assignee = await find(
          'primaryAssigneeUserAccountId',
          'user',
          input.primaryAssigneeUserAccountId,
          'member where workspace_id = $1 and user_account_id = $2 and status in (1, 2)',
        );
        const labelIds = (input.labelIds ?? []).map((id) => uuidOf('label', id));
        const labels = await rows(
          'select id from label where workspace_id = $1 and id = any($2) and not is_group and (team_id is null or team_id = $3)',
          [workspaceId, labelIds, team['id']],
          client,
        );
        if (labels.length < labelIds.length) refuse('labelIds');
        const [counter] = await rows(
          `insert into team_counter as c (workspace_id, team_id, next_issue_number) values ($1, $2, 2) on conflict (workspace_id, team_id)
           do update set next_issue_number = c.next_issue_number + 1 returning next_issue_number - 1 as number`,
          [workspaceId, team['id']],
          client,
        );
        const [created] = await rows(
          `insert into issue (workspace_id, id, team_id, number, title, title_fold, description, reporter_user_account_id, status_id,
             status_rank, priority, primary_assignee_user_account_id, project_id, delivery_id, estimate_value, due_date, created_utc, updated_utc)
           values ($1, $2, $3, $4, $5, lower($5), $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, now(), now()) returning *`,
          [
            workspaceId,
            randomUUID(),
            team['id'],
            counter?.['number'],
            input.title,
            input.description ?? '',
            userAccountId,
            status['id'],
            status['rank'],
            priorities.indexOf(input.priority ?? 'NONE'),
            assignee?.['user_account_id'],
            project?.['id'],
            delivery?.['id'],
            input.estimateValue,
            input.dueDate,
          ],
          client,
        );
        if (!created) return refuse('input');
        const issueId = created['id'];
        if (assignee)
          await client.query(
            'insert into issue_assignee (workspace_id, issue_id, user_account_id) values ($1, $2, $3)',
            [workspaceId, issueId, assignee['user_account_id']],
          );
        if (labels.length > 0)
          await client.query('insert into issue_label select $1, $2, unnest($3::uuid[])', [
            workspaceId,
            issueId,
            labelIds,
          ]);
        await client.query(
          'insert into issue_subscription select $1, $2, unnest($3::uuid[]) on conflict do nothing',
          [workspaceId, issueId, [userAccountId, ...(assignee ? [assignee['user_account_id']] : [])]],
        );
        const estimate = input.estimateValue ?? 0;
        if (delivery) {
          await client.query(
            `insert into delivery_count as c values ($1, $2, ${slot}, 1, $3::int, $4::int, $3::int * $4::int) on conflict (workspace_id, delivery_id, slot) do update
             set issue_count = c.issue_count + 1, closed_issue_count = c.closed_issue_count + excluded.closed_issue_count,
             estimated_scope = c.estimated_scope + excluded.estimated_scope, closed_estimate = c.closed_estimate + excluded.closed_estimate`,
            [workspaceId, delivery['id'], status['is_terminal'] ? 1 : 0, estimate],
          );
        }
        if (project) {
          await client.query(
            `insert into project_count as c values ($1, $2, ${slot}, $3, $4) on conflict (workspace_id, project_id, slot) do update
             set issue_count = c.issue_count + excluded.issue_count, completed_issue_count = c.completed_issue_count + excluded.completed_issue_count`,
            [workspaceId, project['id'], status['category'] === 5 ? 0 : 1, status['category'] === 4 ? 1 : 0],
          );
        }
        return created;
      });
      return { issue };
    },
  }),
);

const CommentCreateInput = builder.inputType('CommentCreateInput', {
  fields: (t) => ({ issueKey: t.string({ required: true }), body: t.string({ required: true }) }),
});

builder.mutationField('commentCreate', (t) =>
  t.field({
    type: builder.objectRef<{ comment: Row }>('CommentCreatePayload').implement({
      fields: (t) => ({ comment: t.field({ type: Comment, resolve: ({ comment }) => comment }) }),
    }),
    args: { input: t.arg({ type: CommentCreateInput, required: true }) },
    resolve: async (_, { input }, context) => {
      requireScope(context, 'issues:write');
      const { workspaceId, userAccountId, displayName } = context.caller;
      if (input.body.length < 1 || input.body.length > 50_000) refuse('body');
      const comment = await inTransaction(async (client) => {
        const found = await issueByKey(workspaceId, input.issueKey, client);
        if (!found) return refuse('issueKey');
        const [issue] = await rows(
          `update issue set comment_count = comment_count + 1, activity_count = activity_count + 1, revision = revision + 1,
             last_comment_utc = greatest(last_activity_utc, clock_timestamp()), last_activity_utc = greatest(last_activity_utc, clock_timestamp())
           where workspace_id = $1 and id = $2 returning *`,
          [workspaceId, found['id']],
          client,
        );
        if (!issue) return refuse('issueKey');
        const at = issue['last_activity_utc'];
        await client.query(
          `insert into activity values ($1, $2, $3, $4, 'issue-comment.created.v1', $5, $6, 'icon-comment', $7)`,
          [
            workspaceId,
            issue['id'],
            issue['activity_count'],
            randomUUID(),
            userAccountId,
            at,
            `${displayName} commented`,
          ],
        );
        const [written] = await rows(
          `insert into comment (workspace_id, id, issue_id, author_user_account_id, body, created_utc, updated_utc)
           values ($1, $2, $3, $4, $5, $6, $6) returning *`,
          [workspaceId, randomUUID(), issue['id'], userAccountId, input.body, at],
          client,
        );
        await client.query('insert into issue_subscription values ($1, $2, $3) on conflict do nothing', [
          workspaceId,
          issue['id'],
          userAccountId,
        ]);
        return written ?? refuse('input');
      });
      return { comment };
    },
  }),
);
