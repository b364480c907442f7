import { sql } from 'kysely';
import { PreparedSelect, StatementsByForm } from '../query/prepared-select.ts';
import type { StatementTarget } from '../engine/statement-target.ts';
import { uuidArray } from '../statements/uuid-array.ts';
import { typedSlot } from '../statements/slots.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';

/** The ids of the rows that a write refers to. Members are referred to by their accounts. */
export interface WantedReferences {
  teamIds: readonly string[];
  statusIds: readonly string[];
  /** Teams whose initial status is requested. */
  initialStatusOf: readonly string[];
  projectIds: readonly string[];
  deliveryIds: readonly string[];
  labelIds: readonly string[];
  userAccountIds: readonly string[];
  parentIssueIds: readonly string[];
}

interface AnyReference {
  /** The id; for a member, the account. */
  id: string;
  /** The team that it belongs to; null if it belongs to the whole workspace. */
  teamId: string | null;
  name: string;
}

/** A row that a write refers to, with the columns that the rules check. */
export type ReferenceRow = AnyReference &
  (
    | { kind: 'team' | 'project' | 'delivery' | 'parent' }
    | { kind: 'status'; isInitial: boolean; rank: number }
    | { kind: 'label'; isGroup: boolean }
    | { kind: 'member'; status: number }
  );

/** A row in the columns that all kinds share, so that one statement can select them together. */
export interface UniformReference extends AnyReference {
  kind: ReferenceRow['kind'];
  /** `isInitial` of a status, `isGroup` of a label. */
  flag: boolean;
  /** `rank` of a status, `status` of a member. */
  code: number;
}

/** The row with the columns of its kind. */
export function referenceOf({ kind, flag, code, ...shared }: UniformReference): ReferenceRow {
  if (kind === 'status') return { ...shared, kind, isInitial: flag, rank: code };
  if (kind === 'label') return { ...shared, kind, isGroup: flag };
  if (kind === 'member') return { ...shared, kind, status: code };
  return { ...shared, kind };
}

/**
 * Reads everything that a write refers to, with one statement. Rows that are deleted or not in the workspace are
 * missing.
 */
export async function selectReferences(
  target: StatementTarget,
  wanted: WantedReferences,
): Promise<ReferenceRow[]> {
  const lists = Object.entries(wanted).filter(([, ids]) => ids.length > 0);
  const form = lists.map(([name]) => name as keyof WantedReferences);
  const values = lists.map(([name, ids]) => [name, uuidArray(ids)] as const);
  const rows = await references.send(target, form, Object.fromEntries(values));
  return rows.map(referenceOf);
}

/** The statements for each combination of non-empty lists. */
const references = new StatementsByForm<readonly (keyof WantedReferences)[], UniformReference>(
  (db, form) => new PreparedSelect<UniformReference>(referencesQuery(db, new Set(form)), referenceColumns),
);

const referenceColumns = ['kind', 'id', 'teamId', 'name', 'flag', 'code'] as const;

function referencesQuery(db: TenantDb, wanted: ReadonlySet<keyof WantedReferences>) {
  const statuses = wanted.has('statusIds') || wanted.has('initialStatusOf');
  const kinds = [
    wanted.has('teamIds') && teams(db),
    statuses && statusesOf(db, wanted.has('statusIds') ? 'statusIds' : 'initialStatusOf'),
    wanted.has('projectIds') && projects(db),
    wanted.has('deliveryIds') && deliveries(db),
    wanted.has('labelIds') && labels(db),
    wanted.has('userAccountIds') && members(db),
    wanted.has('parentIssueIds') && parents(db),
  ].filter((kind) => kind !== false);
  const [first, ...more] = kinds;
  if (!first) throw new Error('No references were requested.');
  return more.reduce((query, kind) => query.unionAll(kind), first);
}

const noFlag = sql<boolean>`false`.as('flag');
const noCode = sql<number>`0`.as('code');
const noTeam = sql<string | null>`null::uuid`.as('teamId');
// Typed as nullable because the column is nullable for other kinds of rows.
const ownTeam = sql<string | null>`team_id`.as('teamId');

function kind(name: ReferenceRow['kind']) {
  return sql<ReferenceRow['kind']>`${sql.lit(name)}::text`.as('kind');
}

function among(list: keyof WantedReferences) {
  return sql<string>`any(${typedSlot(list, 'uuid[]')})`;
}

function teams(db: TenantDb) {
  return db
    .selectFrom('team')
    .select([kind('team'), 'id', noTeam, 'name', noFlag, noCode])
    .where('id', '=', among('teamIds'));
}

/** The statuses with the ids, or the initial statuses of the teams. */
function statusesOf(db: TenantDb, by: 'statusIds' | 'initialStatusOf') {
  const rows = db
    .selectFrom('status')
    .select([kind('status'), 'id', ownTeam, 'name', 'isInitial as flag', 'rank as code']);
  return by === 'statusIds'
    ? rows.where('id', '=', among(by))
    : rows.where('teamId', '=', among(by)).where('isInitial', '=', true);
}

function projects(db: TenantDb) {
  return db
    .selectFrom('project')
    .select([kind('project'), 'id', ownTeam, 'name', noFlag, noCode])
    .where('id', '=', among('projectIds'));
}

function deliveries(db: TenantDb) {
  return db
    .selectFrom('delivery')
    .select([kind('delivery'), 'id', ownTeam, 'name', noFlag, noCode])
    .where('id', '=', among('deliveryIds'));
}

function labels(db: TenantDb) {
  return db
    .selectFrom('label')
    .select([kind('label'), 'id', 'teamId', 'name', 'isGroup as flag', noCode])
    .where('id', '=', among('labelIds'));
}

function members(db: TenantDb) {
  return db
    .selectFrom('member')
    .select([kind('member'), 'userAccountId as id', noTeam, 'displayName as name', noFlag, 'status as code'])
    .where('userAccountId', '=', among('userAccountIds'));
}

function parents(db: TenantDb) {
  return db
    .selectFrom('issue')
    .select([kind('parent'), 'id', noTeam, 'title as name', noFlag, noCode])
    .where('id', '=', among('parentIssueIds'))
    .where('deletedUtc', 'is', null);
}
