import { notInWorkspace } from '../../model/sentences.ts';
import {
  type ReferenceRow,
  selectReferences,
  type WantedReferences,
} from '../../db/reads/issue-references.ts';
import type { StatementTarget } from '../../db/engine/statement-target.ts';
import type { Snapshot } from '../../reference/snapshot.ts';
import { memberStatus } from '../../model/codes.ts';
import type { SignedIn } from '../context.ts';
import { AppError, type Violations } from '../errors.ts';
import type { IssueChange } from './issue-input.ts';
import { cachedReferences } from './cached-references.ts';

/** The rows of the workspace that a change refers to. */
export class References {
  readonly #rows: ReadonlyMap<string, ReferenceRow>;

  constructor(rows: readonly ReferenceRow[]) {
    this.#rows = new Map(rows.map((row) => [`${row.kind} ${row.id}`, row]));
  }

  find<Kind extends ReferenceRow['kind']>(kind: Kind, id: string): Reference<Kind> | undefined {
    const row = this.#rows.get(`${kind} ${id}`);
    return row && isOfKind(row, kind) ? row : undefined;
  }

  initialStatus(): Reference<'status'> | undefined {
    return [...this.#rows.values()]
      .filter((row) => isOfKind(row, 'status'))
      .find(({ isInitial }) => isInitial);
  }

  name(kind: ReferenceRow['kind'], id: string): string {
    return this.find(kind, id)?.name ?? '';
  }
}

/** A row of one kind. */
type Reference<Kind extends ReferenceRow['kind']> = ReferenceRow & { kind: Kind };

function isOfKind<Kind extends ReferenceRow['kind']>(row: ReferenceRow, kind: Kind): row is Reference<Kind> {
  return row.kind === kind;
}

/** Returns the requested rows that the workspace has. */
export type ReferenceLookup = (wanted: WantedReferences) => readonly ReferenceRow[] | Promise<ReferenceRow[]>;

/** Looks the rows up by one statement. */
export function tableLookup(target: StatementTarget): ReferenceLookup {
  return (wanted) => selectReferences(target, wanted);
}

/**
 * Checks a write against the cached reference data, if there are any. They may be slightly out of date, so a write that
 * they refuse is checked again against the tables. A write that they accept is still checked by foreign keys.
 */
export async function withReferences<Result>(
  { db, connect, reference }: SignedIn,
  check: (lookUp: ReferenceLookup, cached: Snapshot | undefined) => Promise<Result>,
): Promise<Result> {
  // Refreshing the cache could need another connection, which nothing may wait for inside a transaction.
  const cached = connect && (await reference?.current());
  if (cached?.isCached) {
    try {
      return await check((wanted) => cachedReferences(cached, wanted), cached);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    }
  }
  return check(tableLookup({ db, connect }), undefined);
}

/** Looks up everything that a change refers to at once, without a statement if it refers to nothing. */
export async function findReferences(
  lookUp: ReferenceLookup,
  change: IssueChange,
  newIssue?: { teamId: string | undefined },
): Promise<References> {
  const teamIds = newIssue?.teamId ? [newIssue.teamId] : [];
  const wanted = {
    teamIds,
    statusIds: idList(change.statusId),
    initialStatusOf: change.statusId ? [] : teamIds,
    projectIds: idList(change.projectId),
    deliveryIds: idList(change.deliveryId),
    labelIds: change.labelIds ?? [],
    userAccountIds: [
      ...idList(change.primaryAssigneeUserAccountId),
      ...(change.assigneeUserAccountIds ?? []),
      ...(change.roleAssignments ?? []).map(({ userAccountId }) => userAccountId),
    ],
    parentIssueIds: idList(change.parentIssueId),
  };
  if (Object.values(wanted).every((ids) => ids.length === 0)) return new References([]);
  return new References(await lookUp(wanted));
}

/** Adds a violation for each reference of a change that does not belong to the workspace. */
export function checkWorkspaceReferences(
  change: IssueChange,
  references: References,
  violations: Violations,
): void {
  const { projectId, parentIssueId, primaryAssigneeUserAccountId: primaryAssignee } = change;
  const isAssignable = (id: string) => {
    const member = references.find('member', id);
    return member?.status === memberStatus.invited || member?.status === memberStatus.active;
  };
  const notAssignable = 'is not a member of this workspace who can be assigned';
  if (projectId && !references.find('project', projectId)) {
    violations.add('projectId', notInWorkspace);
  }
  if (parentIssueId && !references.find('parent', parentIssueId)) {
    violations.add('parentIssueId', notInWorkspace);
  }
  if (primaryAssignee && !isAssignable(primaryAssignee))
    violations.add('primaryAssigneeUserAccountId', notAssignable);
  for (const [index, id] of (change.assigneeUserAccountIds ?? []).entries()) {
    violations.addUnless(isAssignable(id), 'assigneeUserAccountIds', `item ${index + 1} ${notAssignable}`);
  }
  for (const [index, { userAccountId }] of (change.roleAssignments ?? []).entries()) {
    violations.addUnless(
      isAssignable(userAccountId),
      `roleAssignments[${index}].userAccountId`,
      notAssignable,
    );
  }
}

/**
 * Adds a violation for each reference that does not fit an issue of the team. An object of another team and an object
 * that does not exist get the same message. `prefix` names the issue if there are several.
 */
export function checkTeamReferences(
  change: IssueChange,
  references: References,
  teamId: string | undefined,
  violations: Violations,
  prefix = '',
): void {
  const { statusId, deliveryId, labelIds = [] } = change;
  const belongsToTeam = (row: ReferenceRow | undefined) => row && (!teamId || row.teamId === teamId);
  if (statusId && !belongsToTeam(references.find('status', statusId))) {
    violations.add(`${prefix}statusId`, "does not belong to the issue's team");
  }
  if (deliveryId && !belongsToTeam(references.find('delivery', deliveryId))) {
    violations.add(`${prefix}deliveryId`, "does not belong to the issue's team");
  }
  for (const [index, id] of labelIds.entries()) {
    const label = references.find('label', id);
    const fits = label && !label.isGroup && (label.teamId === null || belongsToTeam(label));
    if (!fits)
      violations.add(
        `${prefix}labelIds`,
        `item ${index + 1} is not a label of this workspace or of the issue's team`,
      );
  }
}

function idList(id: string | null | undefined): string[] {
  return id ? [id] : [];
}
