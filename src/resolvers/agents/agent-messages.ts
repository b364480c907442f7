import {
  insertMessage,
  selectInstallation,
  selectInstallationOf,
  selectMessage,
  selectThread,
  upsertThread,
} from '../../db/agent-threads.ts';
import type { IssueRow } from '../../db/issues.ts';
import type { Row } from '../../db/tables/tables.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import { activityActorOf, recordActivity } from '../activity.ts';
import { nextThread, nextTurn, type TurnMessage } from './agent-turns.ts';
import { authorType, messageType, principalKind } from '../../model/codes.ts';
import type { Context, Principal, SignedIn } from '../context.ts';
import { raise, Violations } from '../errors.ts';
import { newUuid } from '../ids.ts';
import { lockExistingIssue } from '../issues/issue-locks.ts';
import { raiseIssueGone, requireIssue } from '../issues/issue-names.ts';
import { requireContributor } from '../writes/write-access.ts';
import { serialKeys } from '../writes/serial-queue.ts';
import { write } from '../writes/write-transaction.ts';
import { limits } from '../../model/limits.ts';
import { wholeNumberRule } from '../../model/sentences.ts';
import { checkText, uuidOf } from '../writes/write-rules.ts';

export interface AgentMessageCreateInput {
  /** A key or an id. */
  issueKey: string;
  /** Plain text. */
  body: string;
  /** A code of `messageType`; by default a prompt for people and a response for agents. */
  messageType?: number | null;
  turnNumber?: number | null;
  replyToMessageId?: string | null;
  followUpActions?: readonly FollowUpAction[] | null;
}

interface FollowUpAction {
  name: string;
  key: string;
  color: string;
}

/** A new message, with its thread and its issue after the write. */
export interface WrittenMessage {
  message: Row<'agentThreadMessage'>;
  thread: Row<'agentThread'>;
  issue: IssueRow;
}

/** Writes a message to the agent thread of an issue. The first message creates the thread. */
export async function createAgentMessage(
  ctx: Context,
  input: AgentMessageCreateInput,
): Promise<WrittenMessage> {
  const context = requireContributor(ctx);
  const { principal } = context;
  return write(context, serialKeys.issue(principal.workspaceId, input.issueKey), (trx) =>
    insert(trx, context, input),
  );
}

async function insert(trx: Trx, context: SignedIn, input: AgentMessageCreateInput): Promise<WrittenMessage> {
  const { principal } = context;
  const violations = new Violations();
  const parsed = parseMessage(violations, input);
  violations.throwIfAny();
  const { id: issueId } = await requireIssue(trx, input.issueKey);
  const { nowUtc } = await lockExistingIssue(trx, issueId);
  const before = await selectThread(trx, issueId);
  const replyToMessageId = parsed.replyToMessageId ?? null;
  await checkAgainstThread(trx, before, { turnNumber: input.turnNumber, replyToMessageId });
  const { applicationId, applicationInstallationId, agentUserAccountId } =
    before ?? (await agentOf(trx, principal));
  const { turnNumber, thread: state } = nextThread(before, turnMessage(principal, input, nowUtc));
  const identity = { issueId, applicationId, applicationInstallationId, agentUserAccountId };
  const threadId = before?.id ?? newUuid(nowUtc.getTime());
  const thread = await upsertThread(trx, { ...identity, id: threadId, ...state });
  const message = await insertMessage(trx, {
    ...identity,
    id: newUuid(nowUtc.getTime()),
    threadId,
    sortOrder: thread.messageCount,
    authorUserAccountId: principal.userAccountId,
    authorType: thread.lastMessageAuthorType,
    messageType: thread.lastMessageType,
    turnNumber,
    body: input.body,
    replyToMessageId,
    followUpActions: JSON.stringify(parsed.followUpActions),
    createdUtc: nowUtc,
  });
  const activityText = activityTexts[message.messageType] ?? 'wrote';
  const activity = { eventType: 'agent-message.created.v1', activityText, subject: message.id } as const;
  const issue = await recordActivity(trx, activityActorOf(context), issueId, nowUtc, activity);
  return { message, thread, issue: issue ?? raiseIssueGone() };
}

/** The author type follows from the kind of the principal, and the default message type from the author type. */
function turnMessage(
  { principalKind }: Principal,
  { body, messageType: requested, turnNumber }: AgentMessageCreateInput,
  nowUtc: Date,
): TurnMessage {
  const author = authorTypes[principalKind] ?? authorType.user;
  const defaultType = author === authorType.agent ? messageType.response : messageType.prompt;
  return {
    authorType: author,
    messageType: requested ?? defaultType,
    turnNumber: turnNumber ?? undefined,
    body,
    nowUtc,
  };
}

const authorTypes: Readonly<Record<number, number>> = {
  [principalKind.user]: authorType.user,
  [principalKind.agent]: authorType.agent,
  [principalKind.service]: authorType.system,
};

const activityTexts: Readonly<Record<number, string>> = {
  [messageType.prompt]: 'wrote to the agent',
  [messageType.thought]: 'shared a thought',
  [messageType.action]: 'took an action',
  [messageType.elicitation]: 'asked a question',
  [messageType.response]: 'responded',
  [messageType.error]: 'reported an error',
};

function parseMessage(violations: Violations, input: AgentMessageCreateInput) {
  const { body, turnNumber, replyToMessageId } = input;
  checkText(violations, 'body', body, { min: 1, max: limits.comment });
  if (turnNumber != null) violations.addUnless(turnNumber >= 0, 'turnNumber', wholeNumberRule(0));
  const actions = input.followUpActions ?? [];
  const isWithinLimit = actions.length <= limits.followUpActions;
  violations.addUnless(isWithinLimit, 'followUpActions', `must have at most ${limits.followUpActions} items`);
  for (const [index, { name, key, color }] of actions.slice(0, limits.followUpActions).entries()) {
    const field = `followUpActions[${index}]`;
    checkText(violations, `${field}.name`, name, { min: 1, max: limits.title });
    checkText(violations, `${field}.key`, key, { min: 1, max: limits.title });
    checkText(violations, `${field}.color`, color, { min: 0, max: limits.actionColor });
  }
  return {
    replyToMessageId:
      replyToMessageId == null
        ? undefined
        : uuidOf(violations, 'replyToMessageId', 'message', replyToMessageId),
    followUpActions: actions.map(({ name, key, color }) => ({ name, key, color })),
  };
}

/**
 * Throws violations of a message that does not fit its thread. A turn may be at most the next one: turns are counted
 * from the highest one, so a larger number would leave a gap, and the largest integer would make any further turn
 * impossible.
 */
async function checkAgainstThread(
  trx: Trx,
  thread: Row<'agentThread'> | undefined,
  {
    turnNumber,
    replyToMessageId,
  }: { turnNumber?: number | null | undefined; replyToMessageId: string | null },
): Promise<void> {
  const violations = new Violations();
  const next = nextTurn(thread);
  const tooHigh = `must be at most ${next}, the next turn of the thread`;
  violations.addUnless(turnNumber == null || turnNumber <= next, 'turnNumber', tooHigh);
  if (replyToMessageId !== null) {
    const message = thread && (await selectMessage(trx, thread.id, replyToMessageId));
    violations.addUnless(message !== undefined, 'replyToMessageId', 'does not belong to the thread');
  }
  violations.throwIfAny();
}

type AgentIdentity = Pick<
  Row<'agentThread'>,
  'applicationId' | 'applicationInstallationId' | 'agentUserAccountId'
>;

/**
 * The agent of a new thread: the principal if it is an agent, otherwise the agent that is installed in the workspace.
 */
async function agentOf(trx: Trx, principal: Principal): Promise<AgentIdentity> {
  const { userAccountId } = principal;
  const isAgent = principal.principalKind === principalKind.agent;
  const installation = isAgent
    ? await selectInstallationOf(trx, userAccountId)
    : await selectInstallation(trx);
  if (installation) {
    const { id, applicationId, agentUserAccountId } = installation;
    return { applicationId, applicationInstallationId: id, agentUserAccountId };
  }
  if (!isAgent)
    raise('conflict', 'No agent is installed in this workspace, so there is no agent to write to.');
  return { applicationId: null, applicationInstallationId: null, agentUserAccountId: userAccountId };
}
