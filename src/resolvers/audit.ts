import { insertAuditEntries } from '../db/audit.ts';
import type { Trx } from '../db/engine/transaction.ts';
import type { SignedIn } from './context.ts';
import { memberRole } from '../model/codes.ts';
import { newUuid } from './ids.ts';

/** Every act that is entered, with what it means. */
export const auditActs = {
  'workspace.created': 'A workspace was made.',
  'access-token.created': 'An access token was made.',
  'access-token.revoked': 'An access token was revoked, by itself or with the one that made it.',
  'directory.created': 'A directory file made a member, team, project or what belongs to them.',
  'directory.updated': 'A directory file changed one, of a member also the role or the status.',
  'import.started': 'An import began; members that it makes are counted when it ends.',
  'import.finished': 'An import ended.',
  'export.started': 'An export began.',
} as const;
export type AuditAct = keyof typeof auditActs;

/** Who acts: a member by his token, the one who runs the service by a command, or the service itself. */
export const auditActorKind = { member: 1, operator: 2, system: 3 } as const;

/** Who acted, and from where. */
export interface Actor {
  readonly kind: keyof typeof auditActorKind;
  readonly name: string;
  readonly userAccountId?: string;
  readonly tokenId?: string;
  /** Of the client; of the command line, the machine. */
  readonly address?: string | undefined;
  readonly requestId?: string;
}

/** What was done to what, with the values that changed; never a secret. */
export interface AuditedAction {
  readonly act: AuditAct;
  readonly subject: { readonly kind: string; readonly id?: string | undefined; readonly name: string };
  readonly changes?: Readonly<Record<string, { readonly before?: unknown; readonly after?: unknown }>>;
}

/** The service itself, where nobody told it to. */
export const systemActor: Actor = { kind: 'system', name: 'workgraph' };

/** The member whose token came with a request. */
export function actorOf({ principal, requestId, address }: SignedIn): Actor {
  const { displayName: name, userAccountId, tokenId } = principal;
  return { kind: 'member', name, userAccountId, tokenId, address, requestId };
}

/** Enters what is done, in the transaction that does it: neither is there without the other. */
export async function recordAuditEntries(
  trx: Trx,
  actor: Actor,
  actions: readonly AuditedAction[],
  occurredUtc: Date = new Date(),
): Promise<void> {
  await insertAuditEntries(
    trx,
    actions.map(({ act, subject, changes = {} }) => ({
      id: newUuid(),
      occurredUtc,
      act,
      actorKind: auditActorKind[actor.kind],
      actorName: actor.name,
      userAccountId: actor.userAccountId ?? null,
      tokenId: actor.tokenId ?? null,
      address: actor.address ?? null,
      requestId: actor.requestId ?? null,
      subjectKind: subject.kind,
      subjectId: subject.id ?? null,
      subjectName: subject.name,
      changes: JSON.stringify(
        Object.entries(changes).map(([field, { before, after }]) => ({
          field,
          before: textOf(before),
          after: textOf(after),
        })),
      ),
    })),
  );
}

/** Owners and admins read what was done; the scope alone is not enough. */
export function mayReadAudit({ principal }: SignedIn): boolean {
  return principal.role <= memberRole.admin;
}

const longestValue = 1_000;

/** A value as people read it; of a long one its beginning. */
function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const characters = Array.from(text);
  return characters.length <= longestValue ? text : `${characters.slice(0, longestValue).join('')}…`;
}
