import { type AuditSelection, hasActorNamed, selectAuditEntries } from '../db/audit.ts';
import type { Row } from '../db/tables/tables.ts';
import type { TenantDb } from '../db/tables/tenant-tables.ts';
import { auditActorKind, auditActs } from '../model/audit-acts.ts';
import { hint } from '../model/nearest.ts';
import { encodeId } from '../resolvers/ids.ts';
import type { CommandEnvironment } from './environment.ts';
import { UsageError } from './failures.ts';
import { limitOf } from './limit.ts';
import { findMemberIfAny, findWorkspace, noMemberError } from './lookup.ts';
import { table } from './table.ts';
import { timeOfFlag } from './times.ts';

interface AuditArguments {
  readonly workspace?: string | undefined;
  readonly since?: string | undefined;
  readonly actor?: string | undefined;
  readonly act?: string | undefined;
  readonly limit: string;
  readonly json?: boolean | undefined;
}

/** Prints entries of the audit log, newest first. */
export async function runAudit(
  { database, stdout }: CommandEnvironment,
  args: AuditArguments,
): Promise<number> {
  const { id: workspaceId } = await findWorkspace(database, args.workspace);
  const selection: AuditSelection = {
    since: args.since ? timeOfFlag('--since', args.since, new Date(), -1) : undefined,
    ...(args.actor && (await actorNamed(database.of(workspaceId), args.actor))),
    act: args.act ? actNamed(args.act) : undefined,
    limit: limitOf(args.limit),
  };
  const entries = await selectAuditEntries(database.of(workspaceId), selection);
  stdout(args.json ? `${JSON.stringify(entries.map(jsonOf))}\n` : lines(entries));
  return 0;
}

async function actorNamed(
  db: TenantDb,
  nameOrId: string,
): Promise<Pick<AuditSelection, 'userAccountId' | 'actorName'>> {
  const member = await findMemberIfAny(db, nameOrId);
  if (member) return { userAccountId: member.userAccountId };
  // Whoever runs commands, the service itself and members of the past are known by name alone.
  if (await hasActorNamed(db, nameOrId)) return { actorName: nameOrId };
  throw await noMemberError(db, nameOrId);
}

function actNamed(act: string): string {
  if (Object.hasOwn(auditActs, act)) return act;
  const acts = Object.keys(auditActs);
  throw new UsageError(`--act must be one of ${acts.join(', ')}${hint(act, acts) || '.'}`);
}

const kinds = new Map<number, string>(Object.entries(auditActorKind).map(([kind, code]) => [code, kind]));

function jsonOf({ id, userAccountId, tokenId, actorKind, workspaceId: _, ...entry }: Row<'auditEntry'>) {
  return {
    id: encodeId('audit', id),
    ...entry,
    actorKind: kinds.get(actorKind),
    actorUserAccountId: userAccountId && encodeId('user', userAccountId),
    accessTokenId: tokenId && encodeId('token', tokenId),
  };
}

function lines(entries: readonly Row<'auditEntry'>[]): string {
  const rows = entries.map(
    ({ occurredUtc, act, actorKind, actorName, address, subjectKind, subjectName, changes }) => [
      occurredUtc.toISOString().replace(/\.\d+/, ''),
      `${actorName} (${kinds.get(actorKind)})`,
      address ?? '',
      act,
      `${subjectKind} ${subjectName}`,
      changes
        .map(({ field, before, after }) => `${field}: ${before === null ? '' : `${before} → `}${after ?? ''}`)
        .join(', '),
    ],
  );
  return table(['WHEN', 'WHO', 'FROM', 'ACT', 'SUBJECT', 'CHANGES'], rows);
}
