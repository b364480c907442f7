import { type AuditSelection, hasActorNamed, selectAuditEntries } from '../db/audit.ts';
import type { Row } from '../db/tables/tables.ts';
import type { TenantDb } from '../db/tables/tenant-tables.ts';
import { auditActorKind, auditActs } from '../model/audit-acts.ts';
import { suggestionFor } from '../model/nearest.ts';
import { encodeId } from '../resolvers/ids.ts';
import type { CommandEnvironment } from './environment.ts';
import { UsageError } from './failures.ts';
import { parseLimit } from './limit.ts';
import { findMemberIfAny, findWorkspace, noMemberError } from './lookup.ts';
import { table } from './table.ts';
import { parseTimeFlag } from './times.ts';

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
    since: args.since ? parseTimeFlag('--since', args.since, new Date(), -1) : undefined,
    ...(args.actor && (await findActor(database.of(workspaceId), args.actor))),
    act: args.act ? requireAct(args.act) : undefined,
    limit: parseLimit(args.limit),
  };
  const entries = await selectAuditEntries(database.of(workspaceId), selection);
  stdout(args.json ? `${JSON.stringify(entries.map(jsonOf))}\n` : lines(entries));
  return 0;
}

async function findActor(
  db: TenantDb,
  nameOrId: string,
): Promise<Pick<AuditSelection, 'userAccountId' | 'actorName'>> {
  const member = await findMemberIfAny(db, nameOrId);
  if (member) return { userAccountId: member.userAccountId };
  // Operators, the service itself and former members have only a name.
  if (await hasActorNamed(db, nameOrId)) return { actorName: nameOrId };
  throw await noMemberError(db, nameOrId);
}

function requireAct(act: string): string {
  if (Object.hasOwn(auditActs, act)) return act;
  const acts = Object.keys(auditActs);
  throw new UsageError(`--act must be one of ${acts.join(', ')}${suggestionFor(act, acts) || '.'}`);
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
