import type { Kysely } from 'kysely';
import {
  lockWorkspaceDirectory,
  lockNewWorkspaces,
  selectDirectory,
  selectStatusesInUse,
} from '../../db/directory.ts';
import { writeDirectory } from '../../db/writes/directory-writes.ts';
import type { Database } from '../../db/engine/engine.ts';
import type { Row, Tables } from '../../db/tables/tables.ts';
import { tenantTransaction } from '../../db/engine/tenant-handle.ts';
import { inUnscopedTransaction, type Trx } from '../../db/engine/transaction.ts';
import { insertWorkspace, selectWorkspaces } from '../../db/workspaces.ts';
import { type Actor, type AuditedAction, recordAuditEntries } from '../../resolvers/access/audit.ts';
import { type EventCause, logEvents } from '../../resolvers/changes/log-events.ts';
import { memberStatus, projectState } from '../../model/codes.ts';
import type { DirectoryFile } from './directory-file.ts';
import { planLabels } from './directory-labels.ts';
import { checkOwner, isOwner, planAgents, planMembers } from './directory-members.ts';
import { type DirectoryChange, DirectoryPlan, type PlanOptions, timesOf } from './directory-plan.ts';
import { planProjects, planProjectStatuses } from './directory-projects.ts';
import { planTeams } from './directory-teams.ts';
import { raise } from '../../resolvers/errors.ts';
import { fold } from '../../model/fold.ts';
import { newUuid } from '../../resolvers/ids.ts';
import type { NewId } from '../row-ids.ts';

export interface ApplyDirectoryOptions {
  /** Computes the changes, but writes nothing. */
  dryRun?: boolean;
  /** The workspace, which must exist. By default it is the one that the file names, which is created if necessary. */
  workspaceId?: string | undefined;
  /** Creates missing rows and updates none. */
  keepExisting?: boolean;
  /** What the log of changes names as the origin of the changes; by default a command. */
  origin?: EventCause['origin'];
}

/** The changes that applying a directory file made, or would make. */
export interface AppliedDirectory {
  workspaceId: string;
  workspaceName: string;
  changes: DirectoryChange[];
}

/**
 * Makes a workspace match a directory file, in one transaction: it creates and updates, but never removes. Applying the
 * same file again changes nothing. Throws `validation_failed` with all violations, each with its path.
 */
export async function applyDirectory(
  database: Database,
  actor: Actor,
  file: DirectoryFile,
  options: ApplyDirectoryOptions = {},
): Promise<AppliedDirectory> {
  const { dryRun = false, keepExisting = false, workspaceId, origin = 'command' } = options;
  const name = file.workspace?.name ?? '';
  const find = (unscoped: Kysely<Tables>) => findWorkspace(unscoped, workspaceId ?? { name });
  const known = await find(database.unscoped);
  if (!known && workspaceId) raise('not_found', 'The workspace does not exist.');
  if (!known && name === '')
    raise('validation_failed', 'workspace: is required, because no workspace was chosen.');
  return inUnscopedTransaction(database, async (unscoped) => {
    // The lock makes a second file that creates the same workspace wait, so that it finds the workspace here.
    await lockNewWorkspaces(unscoped);
    const found = known ?? (await find(unscoped));
    const workspace = found ?? { id: newUuid(), name };
    const trx = tenantTransaction(unscoped, workspace.id);
    await lockWorkspaceDirectory(trx);
    const plan = await planFile(trx, file, { isNew: !found, keepExisting });
    const created: DirectoryChange[] = found
      ? []
      : [{ action: 'create', kind: 'workspace', name: workspace.name, fields: {} }];
    const changes = [...created, ...plan.changes];
    if (!dryRun) {
      if (!found) await insertNamed(trx, workspace.name, file);
      await write(trx, plan, { origin, userAccountId: actor.userAccountId });
      await recordAuditEntries(trx, actor, changes.map(auditedActionOf));
    }
    return { workspaceId: workspace.id, workspaceName: workspace.name, changes };
  });
}

/**
 * Creates the workspace of a transaction from a directory file. Throws `validation_failed` like `applyDirectory`.
 */
export async function createFromDirectory(
  trx: Trx,
  file: DirectoryFile & { workspace: NonNullable<DirectoryFile['workspace']> },
  newId: NewId,
): Promise<void> {
  await lockWorkspaceDirectory(trx);
  const plan = await planFile(trx, file, { isNew: true, newId });
  await insertNamed(trx, file.workspace.name, file);
  await write(trx, plan, { origin: 'command' });
}

function auditedActionOf({ action, kind, name, fields }: DirectoryChange): AuditedAction {
  const changes = Object.entries(fields).map(([field, change]) => [
    field,
    'added' in change ? { after: change.added } : { before: change.from, after: change.to },
  ]);
  const act = kind === 'workspace' ? 'workspace.created' : (`directory.${action}d` as const);
  return { act, subject: { kind, name }, changes: Object.fromEntries(changes) };
}

async function findWorkspace(
  unscoped: Kysely<Tables>,
  by: string | { name: string },
): Promise<Pick<Row<'workspace'>, 'id' | 'name'> | undefined> {
  const isMeant = (workspace: Pick<Row<'workspace'>, 'id' | 'name'>) =>
    typeof by === 'string' ? workspace.id === by : fold(workspace.name) === fold(by.name);
  const [found, another] = (await selectWorkspaces(unscoped)).filter(isMeant);
  if (another) raise('conflict', 'Several workspaces have the name in the file; choose one by its id.');
  return found;
}

async function planFile(
  trx: Trx,
  file: DirectoryFile,
  { isNew, ...options }: { isNew: boolean } & Pick<PlanOptions, 'keepExisting' | 'newId'>,
): Promise<DirectoryPlan> {
  const workspaceCreatedUtc = isNew ? file.workspace?.createdUtc : undefined;
  const plan = new DirectoryPlan(await selectDirectory(trx), { ...options, workspaceCreatedUtc });
  const needsOwner = isNew || plan.rows.member.some(isOwner);
  planMembers(plan, file.members ?? []);
  planAgents(plan, file);
  checkOwner(plan, needsOwner);
  planLabels(plan, { teamId: null, createdUtc: workspaceCreatedUtc, path: 'labels' }, file.labels ?? []);
  planTeams(plan, file.teams ?? []);
  planProjectStatuses(plan, file);
  planProjects(plan, file.projects ?? []);
  const inUse = await selectStatusesInUse(trx, [...plan.recategorized.keys()]);
  for (const id of inUse) {
    plan.violations.add(
      plan.recategorized.get(id) ?? 'teams',
      'issues have this status, so its category cannot change between open, completed and canceled',
    );
  }
  plan.violations.throwIfAny();
  return plan;
}

async function insertNamed(trx: Trx, name: string, { workspace = { name } }: DirectoryFile): Promise<void> {
  await insertWorkspace(trx, { name, ...timesOf(workspace) });
}

async function write(
  trx: Trx,
  plan: DirectoryPlan,
  cause: Pick<EventCause, 'origin' | 'userAccountId'>,
): Promise<void> {
  if (plan.updates.length === 0 && plan.inserts.size === 0) return;
  const derived = await writeDirectory(trx, plan, {
    memberStatus: memberStatus.active,
    projectState: projectState.active,
  });
  for (const change of derived) plan.logDerived(change);
  await logEvents(trx, [...plan.events.values()], { ...cause, occurredUtc: new Date() });
}
