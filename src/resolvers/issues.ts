import {
  insertAssignees,
  insertLabels,
  insertRoleAssignments,
  insertSubscriptions,
} from '../db/issue-sets.ts';
import { issueCreations, type IssueCreationShape } from '../db/issue-creation.ts';
import { addToSubIssueCounts, lockParents } from '../db/issue-tree.ts';
import { insertIssue, type IssueRow, lockIssues, takeIssueNumber } from '../db/issues.ts';
import { type Sending, uuidArray, type Values } from '../db/prepared.ts';
import { inside, type Trx } from '../db/transaction.ts';
import type { Context, Principal } from './context.ts';
import { raise, Violations } from './errors.ts';
import { fold } from './fold.ts';
import { newUuid } from './ids.ts';
import { type Assignees, assigneeRows, assigneesAfter } from './issue-assignees.ts';
import { countedCategories, moveCounts } from './issue-counts.ts';
import { type IssueChange, type IssueFieldsInput, parseIssueFields } from './issue-input.ts';
import { checkTeamReferences, checkWorkspaceReferences, findReferences } from './issue-references.ts';
import { contributor } from './write-access.ts';
import { turns, write, writeByStatement } from './write-transaction.ts';
import { uuidOf } from './write-rules.ts';

export interface IssueCreateInput extends IssueFieldsInput {
  teamId: string;
  title: string;
}

/** Creates an issue with the next number of its team. Creation is no activity and closes nothing, whatever the status. */
export async function createIssue(ctx: Context, input: IssueCreateInput): Promise<IssueRow> {
  const context = contributor(ctx);
  const { principal, db, connect } = context;
  const { workspaceId } = principal;
  const turn = turns.numbers(workspaceId, input.teamId);
  const whole = async (trx: Trx) => insert(trx, principal, await draft(inside(trx), workspaceId, input));
  // A parent has to be locked, and read again, before anything is written.
  if (input.parentIssueId != null) return write(context, turn, whole);
  const drafted = await draft({ db, connect }, workspaceId, input);
  return writeByStatement(context, {
    turn,
    send: (sending) => issueCreations.send(sending, shapeOf(drafted), valuesOf(drafted, principal)),
    found: (issue: IssueRow) => issue,
    otherwise: whole,
  });
}

function shapeOf({ change, assignees }: Draft): IssueCreationShape {
  return {
    assignees: assignees.all.length > 0,
    labels: (change.labelIds ?? []).length > 0,
    roles: (change.roleAssignments ?? []).length > 0,
    counted: change.deliveryId != null || change.projectId != null,
  };
}

function valuesOf(drafted: Draft, { workspaceId, userAccountId }: Principal): Values {
  const { teamId, title, change, status, assignees } = drafted;
  const placed = assigneeRows(workspaceId, '', assignees);
  const { labelIds = [], roleAssignments = [] } = change;
  return {
    workspaceId,
    teamId,
    id: newUuid(),
    title,
    titleFold: fold(title),
    description: change.description ?? '',
    actor: userAccountId,
    statusId: status.id,
    statusRank: status.rank,
    priority: change.priority ?? 0,
    primaryAssignee: assignees.primary,
    projectId: change.projectId ?? null,
    deliveryId: change.deliveryId ?? null,
    estimateValue: change.estimateValue ?? null,
    dueDate: change.dueDate ?? null,
    assignees: uuidArray(placed.map((each) => each.userAccountId)),
    positions: placed.map(({ position }) => position),
    labels: uuidArray(labelIds),
    roles: roleAssignments.map(({ role }) => role),
    holders: uuidArray(roleAssignments.map((each) => each.userAccountId)),
    followers: uuidArray(new Set([userAccountId, ...assignees.all])),
    ...countedCategories,
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

async function draft(sending: Sending, workspaceId: string, input: IssueCreateInput): Promise<Draft> {
  const violations = new Violations();
  const teamId = uuidOf(violations, 'teamId', 'team', input.teamId);
  const change = parseIssueFields({ ...input, statusId: input.statusId ?? undefined }, violations);
  const references = await findReferences(sending, workspaceId, change, { teamId });
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
  const { number, nowUtc } = await takeIssueNumber(trx, workspaceId, teamId);
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
