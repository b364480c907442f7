import {
  insertAssignees,
  insertLabels,
  insertRoleAssignments,
  insertSubscriptions,
} from '../../db/reads/issue-sets.ts';
import {
  creationValues,
  type IssueCreated,
  issueCreations,
  type IssueCreationShape,
  type NewIssue,
} from '../../db/writes/issue-creation.ts';
import { type Beside, countedDelivery, type WithBeside } from '../../db/writes/issue-beside.ts';
import { addToSubIssueCounts, lockParents } from '../../db/reads/issue-tree.ts';
import { insertIssue, type IssueRow, lockIssues, takeIssueNumbers } from '../../db/issues.ts';
import { type Sending, uuidArray } from '../../db/query/prepared.ts';
import { inside, type Trx } from '../../db/engine/transaction.ts';
import type { Context, Principal } from '../context.ts';
import { raise, Violations } from '../errors.ts';
import { fold } from '../../model/fold.ts';
import { newUuid } from '../ids.ts';
import { type Assignees, assigneeRows, assigneesAfter } from './issue-assignees.ts';
import { countedCategories, moveCounts } from './issue-counts.ts';
import { type IssueChange, type IssueFieldsInput, parseIssueFields } from '../issue-input.ts';
import {
  checkTeamReferences,
  checkWorkspaceReferences,
  findReferences,
  inTables,
  judged,
  type ReferenceLookup,
} from './issue-references.ts';
import { contributor } from '../writes/write-access.ts';
import { turns, write, writeTogether } from '../writes/write-transaction.ts';
import { uuidOf } from '../writes/write-rules.ts';

export interface IssueCreateInput extends IssueFieldsInput {
  teamId: string;
  title: string;
}

/** Creates an issue with the next number of its team. Creation is no activity and closes nothing, whatever the status. */
export async function createIssue(ctx: Context, input: IssueCreateInput): Promise<IssueRow & WithBeside> {
  const context = contributor(ctx);
  const { principal, shows = [] } = context;
  const { workspaceId } = principal;
  const turn = turns.numbers(workspaceId, input.teamId);
  const whole = async (trx: Trx) =>
    insert(trx, principal, await draft(inTables(inside(trx), workspaceId), input));
  // A parent has to be locked, and read again, before anything is written.
  if (input.parentIssueId != null) return write(context, turn, whole);
  const drafted = await judged(context, (look) => draft(look, input));
  return writeTogether(context, {
    turn,
    kind: 'issue',
    item: {
      ...drafted,
      id: newUuid(),
      reporter: principal.userAccountId,
      tellsDelivery: drafted.change.deliveryId != null && shows.includes('deliveryCount'),
    },
    company: () => workspaceId,
    send: (sending, groups) => createAll(sending, workspaceId, groups),
    found: (row) => Object.assign(row, { beside: besideOf(drafted), counted: countedDelivery(row, row) }),
    otherwise: whole,
  });
}

/** A draft that goes into a statement. */
interface Drafted extends Draft {
  id: string;
  reporter: string;
  /** Does its answer show what its delivery counts. */
  tellsDelivery: boolean;
}

/** Creates issues of teams, each in the place of its draft. */
async function createAll(
  sending: Sending,
  workspaceId: string,
  groups: readonly (readonly Drafted[])[],
): Promise<(IssueCreated | undefined)[][]> {
  const teams = groups.map((drafts) => ({ teamId: drafts[0]?.teamId ?? '', issues: drafts.map(newIssue) }));
  const shape = { ...shapeOf(groups.flat()), several: groups.length > 1 };
  const values = { ...creationValues(teams), ...countedCategories, workspaceId };
  const rows = await issueCreations.send(sending, shape, values);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return groups.map((drafts) => drafts.map(({ id }) => byId.get(id)));
}

function shapeOf(drafts: readonly Drafted[]): Omit<IssueCreationShape, 'several'> {
  const some = (holds: (drafted: Drafted) => boolean) => drafts.some(holds);
  return {
    assignees: some(({ assignees }) => assignees.all.length > 0),
    labels: some(({ change: { labelIds = [] } }) => labelIds.length > 0),
    roles: some(({ change: { roleAssignments = [] } }) => roleAssignments.length > 0),
    counted: some(({ change }) => change.deliveryId != null || change.projectId != null),
    beside: some(({ tellsDelivery }) => tellsDelivery) ? ['deliveryCount'] : [],
  };
}

function newIssue({ id, reporter, title, change, status, assignees }: Drafted): NewIssue {
  const { labelIds = [], roleAssignments = [] } = change;
  return {
    columns: {
      id,
      title,
      fold: fold(title),
      description: change.description ?? '',
      reporter,
      status: status.id,
      rank: status.rank,
      priority: change.priority ?? 0,
      assignee: assignees.primary,
      project: change.projectId ?? null,
      delivery: change.deliveryId ?? null,
      estimate: change.estimateValue ?? null,
      due: change.dueDate ?? null,
    },
    assignees: assigneeRows('', id, assignees),
    labels: labelIds,
    roles: roleAssignments,
    followers: [...new Set([reporter, ...assignees.all])],
  };
}

/** What hangs on a new issue: just what was given to it. */
function besideOf({ change, assignees }: Draft): Beside {
  return {
    issueAssignee: uuidArray(assignees.all),
    issueLabel: uuidArray(change.labelIds ?? []),
    issueRoleAssignment: uuidArray((change.roleAssignments ?? []).map((each) => each.userAccountId)),
    issueSubscription: 'true',
  };
}

/** An issue that breaks no rule, but has no number yet. */
interface Draft {
  teamId: string;
  title: string;
  change: IssueChange;
  status: { id: string; rank: number };
  assignees: Assignees;
}

async function draft(look: ReferenceLookup, input: IssueCreateInput): Promise<Draft> {
  const violations = new Violations();
  const teamId = uuidOf(violations, 'teamId', 'team', input.teamId);
  const change = parseIssueFields({ ...input, statusId: input.statusId ?? undefined }, violations);
  const references = await findReferences(look, change, { teamId });
  const team = teamId ? references.find('team', teamId) : undefined;
  if (teamId && !team) violations.add('teamId', 'is no team of the workspace');
  checkWorkspaceReferences(change, references, violations);
  checkTeamReferences(change, references, team?.id, violations);
  const status = change.statusId ? references.find('status', change.statusId) : references.initialStatus();
  if (team && !change.statusId && !status)
    violations.add('statusId', 'must be given: the team has no initial status');
  violations.check();
  if (!team || !status || change.title === undefined)
    return raise('internal_error', 'Impossible if we got this far.');
  return {
    teamId: team.id,
    title: change.title,
    change,
    status: { id: status.id, rank: status.code },
    assignees: assigneesAfter(change, { primary: null, all: [] }),
  };
}

async function insert(trx: Trx, principal: Principal, drafted: Draft): Promise<IssueRow> {
  const { workspaceId, userAccountId } = principal;
  const { teamId, title, change, status, assignees } = drafted;
  const parentIssueId = change.parentIssueId ?? null;
  if (parentIssueId) await lockNewParent(trx, workspaceId, parentIssueId);
  const { number, nowUtc } = await takeIssueNumbers(trx, workspaceId, teamId, 1);
  const issue = await insertIssue(trx, {
    workspaceId,
    id: newUuid(nowUtc.getTime()),
    teamId,
    number,
    title,
    titleFold: fold(title),
    description: change.description ?? '',
    reporterUserAccountId: userAccountId,
    parentIssueId,
    statusId: status.id,
    statusRank: status.rank,
    priority: change.priority ?? 0,
    primaryAssigneeUserAccountId: assignees.primary,
    projectId: change.projectId ?? null,
    deliveryId: change.deliveryId ?? null,
    estimateValue: change.estimateValue ?? null,
    dueDate: change.dueDate ?? null,
    createdUtc: nowUtc,
    updatedUtc: nowUtc,
  });
  await insertSets(trx, principal, issue.id, drafted);
  if (parentIssueId) await addToSubIssueCounts(trx, workspaceId, new Map([[parentIssueId, 1]]));
  await moveCounts(trx, workspaceId, [], [issue]);
  return issue;
}

/** Holds the parent alive until it has its new sub-issue. */
async function lockNewParent(trx: Trx, workspaceId: string, parentIssueId: string): Promise<void> {
  await lockParents(trx, workspaceId, 'shared');
  const { issues } = await lockIssues(trx, workspaceId, [parentIssueId]);
  const violations = new Violations();
  const parent = issues.get(parentIssueId);
  violations.that(parent?.deletedUtc === null, 'parentIssueId', 'is no issue of the workspace');
  violations.check();
}

async function insertSets(trx: Trx, principal: Principal, issueId: string, drafted: Draft): Promise<void> {
  const { workspaceId, userAccountId } = principal;
  const { change, assignees } = drafted;
  await insertAssignees(trx, assigneeRows(workspaceId, issueId, assignees));
  await insertLabels(trx, workspaceId, [issueId], change.labelIds ?? []);
  await insertRoleAssignments(trx, workspaceId, [issueId], change.roleAssignments ?? []);
  const subscribers = new Set([userAccountId, ...assignees.all]);
  await insertSubscriptions(
    trx,
    [...subscribers].map((subscriber) => ({ workspaceId, issueId, userAccountId: subscriber })),
  );
}
