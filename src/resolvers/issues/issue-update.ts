import { notInWorkspace } from '../../model/sentences.ts';
import {
  insertSubscriptions,
  replaceAssignees,
  replaceLabels,
  replaceRoleAssignments,
  selectAssignees,
} from '../../db/writes/issue-sets.ts';
import { slicesOf } from '../../db/writes/insert-rows.ts';
import type { ChangedIssue } from '../../db/writes/issue-change.ts';
import type { WithPreloaded } from '../../db/writes/preloaded.ts';
import { lockParents, selectAncestorIds } from '../../db/reads/issue-tree.ts';
import { type IssueRow, type LockedIssues, lockIssues, type NamedIssue } from '../../db/issues.ts';
import { transactionTarget, type Trx } from '../../db/engine/transaction.ts';
import type { Context, SignedIn } from '../context.ts';
import { Violations } from '../errors.ts';
import { type Assignees, assigneeRows, assigneesAfter } from './issue-assignees.ts';
import {
  withPreloaded,
  batchKey,
  formAndValues,
  locateIssue,
  sendChanges,
  setsStoredFieldsOnly,
} from './issue-change.ts';
import { type IssueChange, type IssueFieldsInput, parseIssueFields } from './issue-input.ts';
import { raiseIssueGone, requireIssue, requireIssues } from './issue-names.ts';
import { addToSubIssueCounts } from './sub-issues.ts';
import { type ExpectedRevision, requireRevision } from '../writes/revisions.ts';
import {
  checkTeamReferences,
  checkWorkspaceReferences,
  findReferences,
  tableLookup,
  withReferences,
  type ReferenceLookup,
  type References,
} from './issue-references.ts';
import { earlierRow } from '../writes/keyed-write.ts';
import { serialKeys } from '../writes/serial-queue.ts';
import { requireContributor } from '../writes/write-access.ts';
import { write, writeItem } from '../writes/write-transaction.ts';
import { limits } from '../../model/limits.ts';

export interface IssueUpdateInput extends IssueFieldsInput {
  /** Or an id. */
  key: string;
  expectedRevision?: ExpectedRevision;
}

/** Changes the fields that the input sets. Each call adds one entry to the feed. */
export async function updateIssue(ctx: Context, input: IssueUpdateInput): Promise<IssueRow & WithPreloaded> {
  const earlier = earlierRow<ChangedIssue>(ctx);
  if (earlier) return withPreloaded(earlier, ctx.preloads ?? []);
  const context = requireContributor(ctx);
  const { principal, requestId, preloads = [] } = context;
  const { workspaceId } = principal;
  const { key, expectedRevision, parentIssueId } = input;
  const inTransaction = async (trx: Trx) => {
    // From here on no other transaction can move issues to another parent while this one reads the ancestors.
    if (parentIssueId !== undefined) await lockParents(trx, 'exclusive');
    const checked = await checkUpdate(tableLookup(transactionTarget(trx)), input, async () => [
      { issue: await requireIssue(trx, key), prefix: '' },
    ]);
    const [issue] = await applyUpdate(trx, context, { ...checked, expectedRevision });
    return issue ?? raiseIssueGone();
  };
  if (!setsStoredFieldsOnly(input)) {
    const serialKey =
      parentIssueId === undefined ? serialKeys.issue(workspaceId, key) : serialKeys.parents(workspaceId);
    return write(context, serialKey, inTransaction);
  }
  const { change, references, targets } = await withReferences(context, (lookUp, cached) =>
    checkUpdate(
      lookUp,
      input,
      async () => [{ issue: await locateIssue(context, cached, key), prefix: '' }] as const,
    ),
  );
  const [{ issue }] = targets;
  const checkedChange = { change, references, expectedRevision, issue, principal, requestId, preloads };
  const item = formAndValues(checkedChange);
  const serialKey = serialKeys.issue(workspaceId, key);
  const row = await writeItem(context, {
    item,
    send: sendChanges,
    serialKey,
    batchKey: batchKey(checkedChange, item),
  });
  return row ? withPreloaded(row, preloads) : write(context, serialKey, inTransaction);
}

export interface IssueBatchUpdateInput extends IssueFieldsInput {
  /** Or ids. */
  keys: readonly string[];
}

/** Makes the same change to several issues, all or none; each has its entry in its feed. */
export async function updateIssues(ctx: Context, input: IssueBatchUpdateInput): Promise<IssueRow[]> {
  const context = requireContributor(ctx);
  const { workspaceId } = context.principal;
  const { keys } = input;
  const serialKey = input.parentIssueId === undefined ? undefined : serialKeys.parents(workspaceId);
  return write(context, serialKey, async (trx) => {
    if (input.parentIssueId !== undefined) await lockParents(trx, 'exclusive');
    const checked = await checkUpdate(tableLookup(transactionTarget(trx)), input, async (violations) => {
      const fits = keys.length >= 1 && keys.length <= limits.batch;
      violations.addUnless(fits, 'keys', `must have 1 to ${limits.batch} items`);
      const named = fits ? await requireIssues(trx, keys) : [];
      return named.map(({ issue, index }) => ({ issue, prefix: `keys[${index}].` }));
    });
    return applyUpdate(trx, context, checked);
  });
}

/** An issue to change, and the prefix of its violations. */
interface Target<Issue extends Pick<NamedIssue, 'teamId'>> {
  issue: Issue;
  prefix: string;
}

/** A change that breaks no rule as far as unlocked rows can tell. */
interface CheckedUpdate<Targets = readonly Target<NamedIssue>[]> {
  change: IssueChange;
  references: References;
  targets: Targets;
  expectedRevision?: ExpectedRevision;
}

async function checkUpdate<Targets extends readonly Target<Pick<NamedIssue, 'teamId'>>[]>(
  lookUp: ReferenceLookup,
  input: IssueFieldsInput,
  findTargets: (violations: Violations) => Promise<Targets>,
): Promise<CheckedUpdate<Targets>> {
  const violations = new Violations();
  const change = parseIssueFields(input, violations);
  if (Object.values(change).every((value) => value === undefined) && !violations.any) {
    violations.add('input', 'must change something');
  }
  const targets = await findTargets(violations).catch((absent: unknown) => {
    violations.throwIfAny();
    throw absent;
  });
  const references = await findReferences(lookUp, change);
  checkWorkspaceReferences(change, references, violations);
  for (const { issue, prefix } of targets)
    checkTeamReferences(change, references, issue.teamId, violations, prefix);
  violations.throwIfAny();
  return { change, references, targets };
}

async function applyUpdate(
  trx: Trx,
  { principal, requestId }: SignedIn,
  update: CheckedUpdate,
): Promise<IssueRow[]> {
  const { change, references, targets } = update;
  const locked = await lockAndCheck(trx, update);
  const before = targets.map(({ issue }) => locked.issues.get(issue.id) ?? raiseIssueGone());
  const ids = before.map(({ id }) => id);
  const assignees = await assign(trx, change, before);
  const { labelIds, parentIssueId } = change;
  if (parentIssueId !== undefined) await moveSubIssues(trx, before, parentIssueId, locked.issues);
  const changes = before.map((issue) => {
    const { form, requested } = formAndValues(
      { principal, requestId, change, references, issue, expectedRevision: undefined, preloads: [] },
      {
        set: {
          ...(parentIssueId !== undefined && { parentIssueId, deletedParentIssueId: null }),
          ...(assignees && { primaryAssigneeUserAccountId: assignees.get(issue.id)?.primary ?? null }),
          ...(labelIds && { labelIds: labelIds.toSorted() }),
        },
        previous: {
          ...(change.assigneeUserAccountIds && { assigneeUserAccountIds: issue.assigneeUserAccountIds }),
          ...(change.labelIds && { labelIds: issue.labelIds }),
        },
      },
    );
    return { form, requested: { ...requested, at: locked.nowUtc } };
  });
  const after: (IssueRow | undefined)[] = [];
  for (const slice of slicesOf(changes, issuesPerStatement(change, changes.length)))
    after.push(...(await sendChanges(transactionTarget(trx), slice, true)));
  // Must come after the statement, which reads the former labels from the row: a trigger copies the new ones there.
  await replaceSets(trx, change, ids);
  return after.map((issue) => issue ?? raiseIssueGone());
}

/**
 * The bytes of text that one statement writes. The embedded engine runs on the thread of the server, which handles other
 * requests only between two statements.
 */
const textBytesPerStatement = 1_000_000;

/**
 * How many issues one statement may change. Only a change of nothing but descriptions, which affects no counts or tallies,
 * is divided: counts are locked in an order that holds for one statement and not for several in a transaction.
 */
function issuesPerStatement({ description = '', ...others }: IssueChange, total: number): number {
  if (Object.values(others).some((value) => value !== undefined)) return total;
  // The statement takes the text as JSON.
  return Math.ceil(textBytesPerStatement / Buffer.byteLength(JSON.stringify(description)));
}

/** Locks the issues and, if they move, their old and new parents; then checks the rules that need locked rows. */
async function lockAndCheck(trx: Trx, update: CheckedUpdate): Promise<LockedIssues> {
  const { change, targets, expectedRevision } = update;
  const { parentIssueId } = change;
  const parents =
    parentIssueId === undefined ? [] : [parentIssueId, ...targets.map(({ issue }) => issue.parentIssueId)];
  const ids = [...targets.map(({ issue }) => issue.id), ...parents.flatMap((id) => id ?? [])];
  const locked = await lockIssues(trx, ids);
  const violations = new Violations();
  for (const { issue } of targets) {
    const row = locked.issues.get(issue.id);
    if (!row || row.deletedUtc !== null) raiseIssueGone();
  }
  if (parentIssueId) {
    const exists = locked.issues.get(parentIssueId)?.deletedUtc === null;
    violations.addUnless(exists, 'parentIssueId', notInWorkspace);
    const ancestors = new Set([parentIssueId, ...(await selectAncestorIds(trx, parentIssueId))]);
    for (const { issue, prefix } of targets) {
      violations.addUnless(
        !ancestors.has(issue.id),
        `${prefix}parentIssueId`,
        'would make the issue a part of itself',
      );
    }
  }
  violations.throwIfAny();
  for (const { issue } of targets) requireRevision('issue', locked.issues.get(issue.id), expectedRevision);
  return locked;
}

/**
 * Sets the assignees of each issue and lets new ones follow it. Returns undefined if the change does not name
 * assignees.
 */
async function assign(
  trx: Trx,
  change: IssueChange,
  before: readonly IssueRow[],
): Promise<ReadonlyMap<string, Assignees> | undefined> {
  if (change.primaryAssigneeUserAccountId === undefined && change.assigneeUserAccountIds === undefined)
    return undefined;
  const ids = before.map(({ id }) => id);
  const formerAssignees = Map.groupBy(await selectAssignees(trx, ids), ({ issueId }) => issueId);
  const after = new Map<string, Assignees>();
  const subscriptions: { issueId: string; userAccountId: string }[] = [];
  for (const { id: issueId, primaryAssigneeUserAccountId: primary } of before) {
    const formerIds = (formerAssignees.get(issueId) ?? []).map(({ userAccountId }) => userAccountId);
    const assignees = assigneesAfter(change, { primary, all: formerIds });
    after.set(issueId, assignees);
    const added = assignees.all.filter((userAccountId) => !formerIds.includes(userAccountId));
    subscriptions.push(...added.map((userAccountId) => ({ issueId, userAccountId })));
  }
  const rows = [...after].flatMap(([issueId, assignees]) => assigneeRows(issueId, assignees));
  await replaceAssignees(trx, ids, rows);
  await insertSubscriptions(trx, subscriptions);
  return after;
}

async function replaceSets(trx: Trx, change: IssueChange, ids: string[]): Promise<void> {
  if (change.labelIds) await replaceLabels(trx, ids, change.labelIds);
  if (change.roleAssignments) await replaceRoleAssignments(trx, ids, change.roleAssignments);
}

/** Moves issues from their parents to another, and the counts of sub-issues with them. */
async function moveSubIssues(
  trx: Trx,
  before: readonly IssueRow[],
  parentIssueId: string | null,
  locked: ReadonlyMap<string, IssueRow>,
): Promise<void> {
  const differences = new Map<string, number>();
  const add = (id: string | null, difference: number) => {
    if (id) differences.set(id, (differences.get(id) ?? 0) + difference);
  };
  for (const issue of before) {
    add(issue.parentIssueId, -1);
    add(parentIssueId, 1);
  }
  await addToSubIssueCounts(trx, locked, differences);
}
