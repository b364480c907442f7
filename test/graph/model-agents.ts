import { threadStatus } from '../../src/model/codes.ts';
import { onLiving, type Thing, thing, type Things } from './model.ts';
import { codeName, idOf, utc } from './values.ts';

type Rows = Things['rows'];

/** Agent threads and their messages, from their rows. */
export function agentThings(things: Things): Thing[] {
  const { rows } = things;
  return [
    ...onLiving(things, rows.agentThread).map((row) => agentThread(things, row)),
    ...onLiving(things, rows.agentThreadMessage).map((row) => agentThreadMessage(things, row)),
  ];
}

function agentKeys(row: Rows['agentThread'][number] | Rows['agentThreadMessage'][number]) {
  return {
    issueId: idOf('issue', row.issueId),
    applicationId: idOf('app', row.applicationId),
    applicationInstallationId: idOf('installation', row.applicationInstallationId),
    agentUserAccountId: idOf('user', row.agentUserAccountId),
  };
}

function agentThread(things: Things, row: Rows['agentThread'][number]): Thing {
  const id = idOf('thread', row.id);
  const keys = agentKeys(row);
  const { currentTurnNumber, lastCompletedTurnNumber, messageCount, lastMessagePreview } = row;
  const isWaiting = row.status === threadStatus.pending || row.status === threadStatus.active;
  const isStale = isWaiting && things.viewer.nowMs - row.lastMessageUtc.getTime() > 30 * 60_000;
  return thing(
    'AgentThread',
    {
      id,
      ...keys,
      currentTurnNumber,
      lastCompletedTurnNumber,
      messageCount,
      lastMessagePreview,
      status: isStale ? 'STALE' : codeName('threadStatus', row.status),
      lastMessageAuthorType: codeName('authorType', row.lastMessageAuthorType),
      lastMessageType: codeName('messageType', row.lastMessageType),
      lastMessageUtc: utc(row.lastMessageUtc),
      startedUtc: utc(row.startedUtc),
    },
    {
      issue: () => things.find('Issue', keys.issueId),
      agent: () => things.member(keys.agentUserAccountId),
      messages: () => things.where('AgentThreadMessage', 'threadId', id),
    },
  );
}

function agentThreadMessage(things: Things, row: Rows['agentThreadMessage'][number]): Thing {
  const keys = agentKeys(row);
  const threadId = idOf('thread', row.threadId);
  const authorUserAccountId = idOf('user', row.authorUserAccountId);
  const replyToMessageId = idOf('message', row.replyToMessageId);
  const { turnNumber, body, followUpActions, sortOrder } = row;
  return thing(
    'AgentThreadMessage',
    {
      id: idOf('message', row.id),
      threadId,
      ...keys,
      authorUserAccountId,
      replyToMessageId,
      turnNumber,
      body,
      followUpActions,
      sortOrder,
      authorType: codeName('authorType', row.authorType),
      messageType: codeName('messageType', row.messageType),
      createdUtc: utc(row.createdUtc),
    },
    {
      thread: () => things.find('AgentThread', threadId),
      agent: () => things.member(keys.agentUserAccountId),
      author: () => things.member(authorUserAccountId),
      authorPrincipalKind: () => things.member(authorUserAccountId)?.principalKind,
      replyTo: () => things.find('AgentThreadMessage', replyToMessageId),
    },
  );
}
