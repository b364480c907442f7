import type { LocalRow, NewRow } from '../../db/tables/tenant-tables.ts';
import { nextThread } from '../../resolvers/agents/agent-turns.ts';
import type { ImportTarget, People } from './import-people.ts';
import type { PreparedIssue } from './import-rows.ts';

/** The rows of a conversation: the thread in its state after the last message, and the messages. */
export interface ThreadRows {
  readonly thread: NewRow<'agentThread'>;
  readonly messages: NewRow<'agentThreadMessage'>[];
}

/** The rows of an issue's conversation; undefined if it names no agent and no agent is installed. */
export function threadRows(
  { newId }: ImportTarget,
  { id: issueId, issue: { sourceId, agentThread } }: PreparedIssue,
  people: People,
  installations: readonly LocalRow<'agentInstallation'>[],
): ThreadRows | undefined {
  const [first] = agentThread?.messages ?? [];
  const named = agentThread?.agent && people.account(agentThread.agent);
  const agentUserAccountId = named ?? installations[0]?.agentUserAccountId;
  if (!agentThread || !first || agentUserAccountId === undefined) return undefined;
  const installation = installations.find((row) => row.agentUserAccountId === agentUserAccountId);
  const origin = {
    issueId,
    applicationId: installation?.applicationId ?? null,
    applicationInstallationId: installation?.id ?? null,
    agentUserAccountId,
  };
  const threadId = newId({ kind: 'thread', key: sourceId, createdUtc: first.createdUtc });
  const messages: (NewRow<'agentThreadMessage'> & { id: string })[] = [];
  let before: LocalRow<'agentThread'> | undefined;
  for (const [index, message] of agentThread.messages.entries()) {
    const { authorType, messageType, turnNumber, body, createdUtc } = message;
    const moved = nextThread(before, { authorType, messageType, turnNumber, body, nowUtc: createdUtc });
    before = { ...origin, id: threadId, ...moved.thread, revision: moved.thread.messageCount };
    messages.push({
      ...origin,
      id: newId({ kind: 'message', key: `${sourceId} ${index}`, createdUtc, index }),
      threadId,
      sortOrder: index + 1,
      authorUserAccountId: people.account(message.author),
      authorType,
      messageType,
      turnNumber: moved.turnNumber,
      body,
      replyToMessageId: message.replyTo === undefined ? null : (messages[message.replyTo - 1]?.id ?? null),
      followUpActions: JSON.stringify(message.followUpActions),
      createdUtc,
    });
  }
  return before && { thread: before, messages };
}
