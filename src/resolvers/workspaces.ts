import { limits } from '../model/limits.ts';
import { inTransaction } from '../db/engine/transaction.ts';
import { insertMember, insertWorkspace } from '../db/workspaces.ts';
import { type Actor, recordAuditEntries } from './access/audit.ts';
import { memberRole, memberStatus, principalKind } from '../model/codes.ts';
import { scopes } from './context.ts';
import { Violations } from './errors.ts';
import { fold } from '../model/fold.ts';
import { encodeId, newUuid } from './ids.ts';
import { issueToken, type NewAccessToken } from './access/access-tokens.ts';
import { checkText } from './writes/write-rules.ts';
import type { Database } from '../db/engine/engine.ts';

interface WorkspaceCreateInput {
  name: string;
  ownerDisplayName: string;
  ownerEmailAddress?: string | undefined;
}

interface NewWorkspace {
  workspaceId: string;
  ownerUserAccountId: string;
  ownerMemberId: string;
  /** A token of the owner with all scopes and without expiry, for setting up the workspace. */
  ownerToken: NewAccessToken;
}

/** Creates a workspace with an owner and a token of the owner, for commands of the operator. */
export async function createWorkspace(
  database: Pick<Database, 'of'>,
  actor: Actor,
  input: WorkspaceCreateInput,
): Promise<NewWorkspace> {
  const name = input.name.trim();
  const ownerDisplayName = input.ownerDisplayName.trim();
  const violations = new Violations();
  const rule = { min: 1, max: limits.name, trimmed: true } as const;
  checkText(violations, 'name', input.name, rule);
  checkText(violations, 'ownerDisplayName', input.ownerDisplayName, rule);
  violations.throwIfAny();
  const [workspaceId, ownerUserAccountId, ownerMemberId] = [newUuid(), newUuid(), newUuid()];
  const ownerToken = await inTransaction(database.of(workspaceId), async (trx) => {
    await insertWorkspace(trx, { name });
    await insertMember(trx, {
      id: ownerMemberId,
      userAccountId: ownerUserAccountId,
      displayName: ownerDisplayName,
      displayNameFold: fold(ownerDisplayName),
      emailAddress: input.ownerEmailAddress ?? null,
      emailAddressFold: input.ownerEmailAddress ? fold(input.ownerEmailAddress) : null,
      principalKind: principalKind.user,
      role: memberRole.owner,
      status: memberStatus.active,
    });
    const owner = { after: ownerDisplayName };
    const subject = { kind: 'workspace', id: encodeId('workspace', workspaceId), name };
    await recordAuditEntries(trx, actor, [{ act: 'workspace.created', subject, changes: { owner } }]);
    return issueToken(trx, actor, {
      userAccountId: ownerUserAccountId,
      parentTokenId: null,
      name: 'owner',
      scopes,
    });
  });
  return { workspaceId, ownerUserAccountId, ownerMemberId, ownerToken };
}
