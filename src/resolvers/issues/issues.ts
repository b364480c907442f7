import { notInWorkspace } from '../../model/sentences.ts';
import { createIssues, type CreatedIssue, type NewIssue, formOf } from '../../db/writes/issue-creation.ts';
import type { KeyedItem } from '../../db/writes/kept-keys.ts';
import type { WithPreloaded } from '../../db/writes/preloaded.ts';
import { lockParents } from '../../db/reads/issue-tree.ts';
import { type IssueRow, lockIssues } from '../../db/issues.ts';
import type { StatementTarget } from '../../db/engine/statement-target.ts';
import { uuidArray } from '../../db/statements/uuid-array.ts';
import { transactionTarget, type Trx } from '../../db/engine/transaction.ts';
import type { Context, SignedIn } from '../context.ts';
import { raise, Violations } from '../errors.ts';
import { newUuid } from '../ids.ts';
import { type Assignees, assigneeRows, assigneesAfter } from './issue-assignees.ts';
import { newColumns } from './issue-columns.ts';
import { type IssueChange, type IssueFieldsInput, parseIssueFields } from './issue-input.ts';
import {
  checkTeamReferences,
  checkWorkspaceReferences,
  findReferences,
  tableLookup,
  withReferences,
  type ReferenceLookup,
} from './issue-references.ts';
import { addToSubIssueCounts } from './sub-issues.ts';
import { earlierRow } from '../writes/keyed-write.ts';
import { serialKeys } from '../writes/serial-queue.ts';
import { requireContributor } from '../writes/write-access.ts';
import { write, writeItem } from '../writes/write-transaction.ts';
import { uuidOf } from '../writes/write-rules.ts';

export interface IssueCreateInput extends IssueFieldsInput {
  teamId: string;
  title: string;
}

/** Creates an issue with the next number of its team. A creation adds no feed entry and never sets closedUtc. */
export async function createIssue(ctx: Context, input: IssueCreateInput): Promise<IssueRow & WithPreloaded> {
  const earlier = earlierRow<CreatedIssue>(ctx);
  if (earlier) return withRowsOfInput(earlier, readInput(input));
  const context = requireContributor(ctx);
  const { principal, preloads = [] } = context;
  const { workspaceId } = principal;
  const serialKey = serialKeys.numbers(workspaceId, input.teamId);
  const inTransaction = async (trx: Trx) =>
    insert(trx, context, await draft(tableLookup(transactionTarget(trx)), input));
  // A parent has to be locked, and read again, before anything is written.
  if (input.parentIssueId != null) return write(context, serialKey, inTransaction);
  const drafted = await withReferences(context, (lookUp) => draft(lookUp, input));
  const preloadsDelivery = drafted.change.deliveryId != null && preloads.includes('deliveryCount');
  const row = await writeItem(context, {
    item: { issue: newIssue(drafted, context), preloadsDelivery },
    send: createAll,
    serialKey,
    batchKey: `issue ${workspaceId}`,
  });
  if (!row) return write(context, serialKey, inTransaction);
  return withRowsOfInput(row, drafted);
}

/** A new issue, and whether the counts of its delivery are preloaded. */
interface IssueCreationItem extends KeyedItem {
  issue: NewIssue;
  preloadsDelivery: boolean;
}

function createAll(
  to: StatementTarget,
  items: readonly IssueCreationItem[],
  wait: boolean,
): Promise<(CreatedIssue | undefined)[]> {
  const issues = items.map(({ issue, key }) => ({ ...issue, key }));
  const preloads = items.some(({ preloadsDelivery }) => preloadsDelivery) ? (['deliveryCount'] as const) : [];
  return createIssues(to, { ...formOf(issues), preloads, wait }, issues);
}

function newIssue(drafted: Draft, { principal, requestId }: SignedIn): NewIssue {
  const { userAccountId } = principal;
  const { teamId, title, change, status, assignees } = drafted;
  const { labelIds = [], roleAssignments = [], parentIssueId = null } = change;
  const id = newUuid();
  return {
    teamId,
    columns: {
      id,
      parentIssueId,
      reporterUserAccountId: userAccountId,
      primaryAssigneeUserAccountId: assignees.primary,
      ...newColumns({ ...change, title, statusId: status.id }, status.rank),
    },
    assignees: assigneeRows(id, assignees),
    labels: labelIds,
    roles: roleAssignments,
    followers: [...new Set([userAccountId, ...assignees.all])],
    event: { id: newUuid(), actor: userAccountId, request: requestId },
  };
}

/** The fields of a new issue as its input sets them. */
type InputFields = Pick<Draft, 'change' | 'assignees'>;

/** The new issue with its related rows, taken from its input: a new issue has exactly those. */
function withRowsOfInput(row: CreatedIssue, { change, assignees }: InputFields): IssueRow & WithPreloaded {
  const preloaded = {
    issueAssignee: uuidArray(assignees.all),
    issueLabel: uuidArray(change.labelIds ?? []),
    issueRoleAssignment: uuidArray((change.roleAssignments ?? []).map(({ userAccountId }) => userAccountId)),
    issueSubscription: 'true',
    deliveryCount: row.deliveryCount,
  };
  return Object.assign(row, { preloaded });
}

function readInput(input: IssueCreateInput, violations = new Violations()): InputFields {
  const change = parseIssueFields({ ...input, statusId: input.statusId ?? undefined }, violations);
  return { change, assignees: assigneesAfter(change, { primary: null, all: [] }) };
}

/** An issue that breaks no rule, but has no number yet. */
interface Draft {
  teamId: string;
  title: string;
  change: IssueChange;
  status: { id: string; rank: number };
  assignees: Assignees;
}

async function draft(lookUp: ReferenceLookup, input: IssueCreateInput): Promise<Draft> {
  const violations = new Violations();
  const teamId = uuidOf(violations, 'teamId', 'team', input.teamId);
  const { change, assignees } = readInput(input, violations);
  const references = await findReferences(lookUp, change, { teamId });
  const team = teamId ? references.find('team', teamId) : undefined;
  if (teamId && !team) violations.add('teamId', notInWorkspace);
  checkWorkspaceReferences(change, references, violations);
  checkTeamReferences(change, references, team?.id, violations);
  const status = change.statusId ? references.find('status', change.statusId) : references.initialStatus();
  if (team && !change.statusId && !status)
    violations.add('statusId', 'is required: the team has no initial status');
  violations.throwIfAny();
  if (!team || !status || change.title === undefined)
    return raise('internal_error', 'A new issue without violations lacks a team, a status or a title.');
  return {
    teamId: team.id,
    title: change.title,
    change,
    status: { id: status.id, rank: status.rank },
    assignees,
  };
}

async function insert(trx: Trx, context: SignedIn, drafted: Draft): Promise<IssueRow> {
  const issue = newIssue(drafted, context);
  const { parentIssueId } = drafted.change;
  const parents = parentIssueId ? await lockNewParent(trx, parentIssueId) : undefined;
  const [created] = await createAll(transactionTarget(trx), [{ issue, preloadsDelivery: false }], true);
  if (parentIssueId && parents) await addToSubIssueCounts(trx, parents, new Map([[parentIssueId, 1]]));
  return (
    created ?? raise('internal_error', 'The statement returned no row, although it waited for the team.')
  );
}

/** Locks the parent, so that it cannot be deleted before it has its new sub-issue. */
async function lockNewParent(trx: Trx, parentIssueId: string): Promise<ReadonlyMap<string, IssueRow>> {
  await lockParents(trx, 'shared');
  const { issues } = await lockIssues(trx, [parentIssueId]);
  const violations = new Violations();
  const parent = issues.get(parentIssueId);
  violations.addUnless(parent?.deletedUtc === null, 'parentIssueId', notInWorkspace);
  violations.throwIfAny();
  return issues;
}
