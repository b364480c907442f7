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
import { newUuid } from '../ids.ts';
import { type Assignees, assigneeRows, assigneesAfter } from './issue-assignees.ts';
import { newColumns } from './issue-columns.ts';
import { countedCategories, moveCounts } from './issue-counts.ts';
import { type IssueChange, type IssueFieldsInput, parseIssueFields } from './issue-input.ts';
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
  const whole = async (trx: Trx) => insert(trx, principal, await draft(inTables(inside(trx)), input));
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
    send: (sending, groups) => createAll(sending, groups),
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
  groups: readonly (readonly Drafted[])[],
): Promise<(IssueCreated | undefined)[][]> {
  const teams = groups.map((drafts) => ({ teamId: drafts[0]?.teamId ?? '', issues: drafts.map(newIssue) }));
  const shape = { ...shapeOf(groups.flat()), several: groups.length > 1 };
  const values = { ...creationValues(teams), ...countedCategories };
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

function newIssue(drafted: Drafted): NewIssue {
  const { id, reporter, change, assignees } = drafted;
  const { labelIds = [], roleAssignments = [] } = change;
  return {
    columns: {
      id,
      reporterUserAccountId: reporter,
      primaryAssigneeUserAccountId: assignees.primary,
      ...columnsOf(drafted),
    },
    assignees: assigneeRows(id, assignees),
    labels: labelIds,
    roles: roleAssignments,
    followers: [...new Set([reporter, ...assignees.all])],
  };
}

function columnsOf({ change, title, status }: Draft) {
  return newColumns({ ...change, title, statusId: status.id }, status.rank);
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
  const { userAccountId } = principal;
  const { teamId, change, assignees } = drafted;
  const parentIssueId = change.parentIssueId ?? null;
  if (parentIssueId) await lockNewParent(trx, parentIssueId);
  const { number, nowUtc } = await takeIssueNumbers(trx, teamId, 1);
  const issue = await insertIssue(trx, {
    id: newUuid(nowUtc.getTime()),
    teamId,
    number,
    ...columnsOf(drafted),
    reporterUserAccountId: userAccountId,
    parentIssueId,
    primaryAssigneeUserAccountId: assignees.primary,
    createdUtc: nowUtc,
    updatedUtc: nowUtc,
  });
  await insertSets(trx, principal, issue.id, drafted);
  if (parentIssueId) await addToSubIssueCounts(trx, new Map([[parentIssueId, 1]]));
  await moveCounts(trx, [], [issue]);
  return issue;
}

/** Holds the parent alive until it has its new sub-issue. */
async function lockNewParent(trx: Trx, parentIssueId: string): Promise<void> {
  await lockParents(trx, 'shared');
  const { issues } = await lockIssues(trx, [parentIssueId]);
  const violations = new Violations();
  const parent = issues.get(parentIssueId);
  violations.that(parent?.deletedUtc === null, 'parentIssueId', 'is no issue of the workspace');
  violations.check();
}

async function insertSets(trx: Trx, principal: Principal, issueId: string, drafted: Draft): Promise<void> {
  const { userAccountId } = principal;
  const { change, assignees } = drafted;
  await insertAssignees(trx, assigneeRows(issueId, assignees));
  await insertLabels(trx, [issueId], change.labelIds ?? []);
  await insertRoleAssignments(trx, [issueId], change.roleAssignments ?? []);
  const subscribers = new Set([userAccountId, ...assignees.all]);
  await insertSubscriptions(
    trx,
    [...subscribers].map((subscriber) => ({ issueId, userAccountId: subscriber })),
  );
}
