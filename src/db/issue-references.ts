import { type Kysely, sql } from 'kysely';
import { anyUuid } from './any-uuid.ts';
import type { Tables } from './tables.ts';

/** What a write refers to, by ids; of members their accounts. */
export interface WantedReferences {
  teamIds: readonly string[];
  statusIds: readonly string[];
  /** Teams whose initial status is wanted. */
  initialStatusOf: readonly string[];
  projectIds: readonly string[];
  deliveryIds: readonly string[];
  labelIds: readonly string[];
  userAccountIds: readonly string[];
  parentIssueIds: readonly string[];
}

/** One row of the workspace that a write refers to, with what its rules ask about. */
export interface ReferenceRow {
  kind: 'team' | 'status' | 'project' | 'delivery' | 'label' | 'member' | 'parent';
  /** Of a member the account. */
  id: string;
  /** The team that it belongs to; null when it is the whole workspace's. */
  teamId: string | null;
  name: string;
  /** A label's: is it a group. A status's: is it the initial one. */
  flag: boolean;
  /** A status's rank, a member's status. */
  code: number;
}

/** Everything that a write refers to, by one statement; what is not in the workspace or deleted is not in the answer. */
export async function selectReferences(
  db: Kysely<Tables>,
  workspaceId: string,
  wanted: WantedReferences,
): Promise<ReferenceRow[]> {
  const { statusIds, initialStatusOf, projectIds, deliveryIds, labelIds, userAccountIds, parentIssueIds } =
    wanted;
  return teams(db, workspaceId, wanted.teamIds)
    .$if(statusIds.length + initialStatusOf.length > 0, (query) =>
      query.unionAll(statuses(db, workspaceId, statusIds, initialStatusOf)),
    )
    .$if(projectIds.length > 0, (query) => query.unionAll(projects(db, workspaceId, projectIds)))
    .$if(deliveryIds.length > 0, (query) => query.unionAll(deliveries(db, workspaceId, deliveryIds)))
    .$if(labelIds.length > 0, (query) => query.unionAll(labels(db, workspaceId, labelIds)))
    .$if(userAccountIds.length > 0, (query) => query.unionAll(members(db, workspaceId, userAccountIds)))
    .$if(parentIssueIds.length > 0, (query) => query.unionAll(parents(db, workspaceId, parentIssueIds)))
    .execute();
}

const noFlag = sql<boolean>`false`.as('flag');
const noCode = sql<number>`0`.as('code');
const noTeam = sql<string | null>`null::uuid`.as('teamId');
// As nullable as the column of the other kinds.
const ownTeam = sql<string | null>`team_id`.as('teamId');

function kind(name: ReferenceRow['kind']) {
  return sql<ReferenceRow['kind']>`${sql.lit(name)}::text`.as('kind');
}

function teams(db: Kysely<Tables>, workspaceId: string, ids: readonly string[]) {
  return db
    .selectFrom('team')
    .select([kind('team'), 'id', noTeam, 'name', noFlag, noCode])
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', anyUuid(ids));
}

function statuses(
  db: Kysely<Tables>,
  workspaceId: string,
  ids: readonly string[],
  initialOf: readonly string[],
) {
  return db
    .selectFrom('status')
    .select([kind('status'), 'id', ownTeam, 'name', 'isInitial as flag', 'rank as code'])
    .where('workspaceId', '=', workspaceId)
    .where((eb) =>
      eb.or([
        eb('id', '=', anyUuid(ids)),
        eb.and([eb('teamId', '=', anyUuid(initialOf)), eb('isInitial', '=', true)]),
      ]),
    );
}

function projects(db: Kysely<Tables>, workspaceId: string, ids: readonly string[]) {
  return db
    .selectFrom('project')
    .select([kind('project'), 'id', ownTeam, 'name', noFlag, noCode])
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', anyUuid(ids));
}

function deliveries(db: Kysely<Tables>, workspaceId: string, ids: readonly string[]) {
  return db
    .selectFrom('delivery')
    .select([kind('delivery'), 'id', ownTeam, 'name', noFlag, noCode])
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', anyUuid(ids));
}

function labels(db: Kysely<Tables>, workspaceId: string, ids: readonly string[]) {
  return db
    .selectFrom('label')
    .select([kind('label'), 'id', 'teamId', 'name', 'isGroup as flag', noCode])
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', anyUuid(ids));
}

function members(db: Kysely<Tables>, workspaceId: string, userAccountIds: readonly string[]) {
  return db
    .selectFrom('member')
    .select([kind('member'), 'userAccountId as id', noTeam, 'displayName as name', noFlag, 'status as code'])
    .where('workspaceId', '=', workspaceId)
    .where('userAccountId', '=', anyUuid(userAccountIds));
}

function parents(db: Kysely<Tables>, workspaceId: string, ids: readonly string[]) {
  return db
    .selectFrom('issue')
    .select([kind('parent'), 'id', noTeam, 'title as name', noFlag, noCode])
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', anyUuid(ids))
    .where('deletedUtc', 'is', null);
}
