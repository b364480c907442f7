import { insertAuditEntries } from '../../db/audit.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import type { SignedIn } from '../context.ts';
import { type AuditAct, auditActorKind } from '../../model/audit-acts.ts';
import { newUuid } from '../ids.ts';

/** The actor of an audited action, and where the action came from. */
export interface Actor {
  readonly kind: keyof typeof auditActorKind;
  readonly name: string;
  readonly userAccountId?: string;
  readonly tokenId?: string;
  /** The network address of the client; for a command, the name of the machine. */
  readonly address?: string | undefined;
  readonly requestId?: string;
}

/** An action, its object and the values that changed. The values never contain a secret. */
export interface AuditedAction {
  readonly act: AuditAct;
  readonly subject: { readonly kind: string; readonly id?: string | undefined; readonly name: string };
  readonly changes?: Readonly<Record<string, { readonly before?: unknown; readonly after?: unknown }>>;
}

/** The actor of actions that the service takes by itself. */
export const systemActor: Actor = { kind: 'system', name: 'workgraph' };

/** The member whose token the request has. */
export function actorOf({ principal, requestId, address }: SignedIn): Actor {
  const { displayName: name, userAccountId, tokenId } = principal;
  return { kind: 'member', name, userAccountId, tokenId, address, requestId };
}

/** Adds entries to the audit log, in the transaction of the actions, so that there is no action without an entry. */
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

const maxValueLength = 1_000;

/** A value as readable text, truncated if it is too long. */
function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const characters = Array.from(text);
  return characters.length <= maxValueLength ? text : `${characters.slice(0, maxValueLength).join('')}…`;
}
