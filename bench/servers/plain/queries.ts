import { GraphQLError } from 'graphql';
import type { PoolClient } from 'pg';
import { typeId, uuidOf } from '../type-id.ts';
import { builder, type Connection, pageOf } from './builder.ts';
import { type Row, rows } from './database.ts';
import type { Context } from './loaders.ts';
import { IssueFilter, IssueOrder } from './inputs.ts';
import { Issue, IssueConnection, TeamConnection } from './types.ts';

export function requireScope({ caller }: Context, scope: string): void {
  if (!caller.scopes.has(scope))
    throw new GraphQLError(`The token lacks ${scope}.`, { extensions: { code: 'FORBIDDEN' } });
}

export async function issueByKey(
  workspaceId: string,
  key: string,
  client?: PoolClient,
): Promise<Row | undefined> {
  const [, code, number] = /^([A-Z][A-Z0-9]{0,9})-([1-9]\d{0,8})$/.exec(key.toUpperCase()) ?? [];
  const [issue] = await rows(
    `select i.* from issue i join team t on t.workspace_id = $1 and t.id = i.team_id
     where i.workspace_id = $1 and t.code = $2 and i.number = $3 and i.deleted_utc is null`,
    [workspaceId, code, number],
    client,
  );
  return issue;
}

const StringFilter = builder.inputType('StringFilter', { fields: (t) => ({ in: t.stringList() }) });
const TeamState = builder.enumType('TeamState', {
  values: { ACTIVE: { value: 1 }, INACTIVE: { value: 2 }, ARCHIVED: { value: 3 } } as const,
});
const TeamStateFilter = builder.inputType('TeamStateFilter', {
  fields: (t) => ({ eq: t.field({ type: TeamState }) }),
});
const TeamFilter = builder.inputType('TeamFilter', {
  fields: (t) => ({ state: t.field({ type: TeamStateFilter }), code: t.field({ type: StringFilter }) }),
});

builder.queryField('teams', (t) =>
  t.field({
    type: TeamConnection,
    args: { first: t.arg.int({ defaultValue: 50 }), filter: t.arg({ type: TeamFilter }) },
    resolve: async (_, { first, filter }, context) => {
      requireScope(context, 'teams:read');
      const limit = first ?? 50;
      const where =
        'workspace_id = $1 and ($2::int is null or state = $2) and ($3::text[] is null or code = any($3))';
      const values = [context.caller.workspaceId, filter?.state?.eq ?? null, filter?.code?.in ?? null];
      const found = await rows(`select * from team where ${where} order by name_fold, id limit $4`, [
        ...values,
        limit + 1,
      ]);
      return pageOf(
        found,
        limit,
        async () => (await rows(`select count(*) from team where ${where}`, values))[0]?.['count'],
      );
    },
  }),
);

builder.queryField('issue', (t) =>
  t.field({
    type: Issue,
    nullable: true,
    args: { key: t.arg.string({ required: true }) },
    resolve: (_, { key }, context) => {
      requireScope(context, 'issues:read');
      return issueByKey(context.caller.workspaceId, key);
    },
  }),
);

builder.queryField('issues', (t) =>
  t.field({
    type: IssueConnection,
    args: {
      first: t.arg.int({ defaultValue: 50 }),
      after: t.arg.string(),
      filter: t.arg({ type: IssueFilter }),
      orderBy: t.arg({ type: IssueOrder }),
    },
    resolve: (_, { first, after, filter, orderBy }, context) => {
      requireScope(context, 'issues:read');
      const { workspaceId } = context.caller;
      return issuePage({
        workspaceId,
        first: first ?? 50,
        after,
        teamId: filter?.teamId?.eq,
        before: filter?.createdUtc?.lt,
        ascending: orderBy?.direction !== 'DESC',
      });
    },
  }),
);

interface PageRequest {
  workspaceId: string;
  first: number;
  after: string | null | undefined;
  teamId: string | null | undefined;
  before: string | null | undefined;
  ascending: boolean;
}

async function issuePage({
  workspaceId,
  first,
  after,
  teamId,
  before,
  ascending,
}: PageRequest): Promise<Connection> {
  const values: unknown[] = [workspaceId];
  const bind = (value: unknown) => `$${values.push(value)}`;
  let where = 'workspace_id = $1 and deleted_utc is null';
  if (teamId) where += ` and team_id = ${bind(uuidOf('team', teamId))}`;
  if (before) where += ` and created_utc < ${bind(before)}`;
  const counted = { where, values: [...values] };
  if (after) {
    const [at, issueId] = JSON.parse(Buffer.from(after, 'base64url').toString()) as [string, string];
    where += ` and (created_utc, id) ${ascending ? '>' : '<'} (${bind(at)}, ${bind(uuidOf('issue', issueId))})`;
  }
  const direction = ascending ? 'asc' : 'desc';
  const found = await rows(
    `select * from issue where ${where} order by created_utc ${direction}, id ${direction} limit ${bind(first + 1)}`,
    values,
  );
  const total = async () =>
    (await rows(`select count(*) from issue where ${counted.where}`, counted.values))[0]?.['count'];
  return pageOf(found, first, total, (row) =>
    cursorOf({ createdUtc: row['created_utc'].toISOString(), id: typeId('issue', row['id']) }),
  );
}

function cursorOf({ createdUtc, id }: { createdUtc: string; id: string }): string {
  return Buffer.from(JSON.stringify([createdUtc, id])).toString('base64url');
}
