import { raiseNotFound } from '../not-found.ts';
import { type IssueName, type NamedIssue, selectIssueNamed, selectIssuesNamed } from '../../db/issues.ts';
import type { StatementTarget } from '../../db/engine/statement-target.ts';
import { transactionTarget, type Trx } from '../../db/engine/transaction.ts';
import { raise, type Violation } from '../errors.ts';
import { decodeId, parseId } from '../ids.ts';
import { parseIssueKey } from '../keys.ts';

/** The issue that a key or an id names. A deleted issue is found only if `deleted` is set. */
export async function requireIssue(
  trx: Trx,
  keyOrId: string,
  options?: { deleted: boolean },
): Promise<NamedIssue> {
  return requireIssueFrom(transactionTarget(trx), keyOrId, options);
}

/** The same, read in a transaction or outside of one. */
export async function requireIssueFrom(
  target: StatementTarget,
  keyOrId: string,
  options?: { deleted: boolean },
): Promise<NamedIssue> {
  const issue = await selectIssueNamed(target, requireName(keyOrId), options);
  return issue ?? raiseNoSuchIssue(keyOrId);
}

/** Reads a key or an id, and throws `not_found` if it cannot name an issue. */
export function requireName(keyOrId: string): IssueName {
  return issueNameOf(keyOrId) ?? raiseNoSuchIssue(keyOrId);
}

function raiseNoSuchIssue(keyOrId: string): never {
  raise('not_found', notFoundMessage(keyOrId));
}

/**
 * The issues that keys or ids name, in their order and each once. A violation gives the index of a name without an
 * issue.
 */
export async function requireIssues(
  trx: Trx,
  keysOrIds: readonly string[],
): Promise<{ issue: NamedIssue; index: number }[]> {
  const names = keysOrIds.map(issueNameOf);
  const found = await selectIssuesNamed(
    trx,
    names.filter((name) => name !== undefined),
  );
  const byName = new Map(
    found.flatMap((issue) => [
      [issue.id, issue],
      [keyOf(issue), issue],
    ]),
  );
  const absent: Violation[] = [];
  const required = new Map<string, { issue: NamedIssue; index: number }>();
  for (const [index, name] of names.entries()) {
    const issue = name && byName.get('id' in name ? name.id : keyOf(name));
    if (!issue) absent.push({ field: `keys[${index}]`, message: 'does not belong to any issue' });
    else if (!required.has(issue.id)) required.set(issue.id, { issue, index });
  }
  if (absent.length > 0) raise('not_found', 'Some of the keys do not belong to any issue.', absent);
  return [...required.values()];
}

/** Throws `not_found` for an issue that has been deleted in the meantime. */
export function raiseIssueGone(): never {
  raiseNotFound('issue');
}

function issueNameOf(keyOrId: string): IssueName | undefined {
  const key = parseIssueKey(keyOrId);
  if (key) return key;
  const id = parseId(keyOrId);
  return id?.prefix === 'issue' ? { id: id.uuid } : undefined;
}

function keyOf({ teamCode, number }: { teamCode: string; number: number }): string {
  return `${teamCode}-${number}`;
}

/** The message for a key or an id without an issue. It says so if the id belongs to an object of another type. */
function notFoundMessage(keyOrId: string): string {
  const decoded = parseId(keyOrId) && decodeId('issue', keyOrId);
  return decoded && 'problem' in decoded
    ? `There is no such issue: ${decoded.problem}.`
    : 'There is no such issue.';
}
