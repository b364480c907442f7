import { threadStatus } from '../../src/model/codes.ts';
import { ofNotDeletedIssues, type ModelObject, modelObject, type Model } from './model.ts';
import { codeName, idOf, utc } from './values.ts';

type Rows = Model['rows'];

/** Agent threads and their messages, from their rows. */
export function agentObjects(model: Model): ModelObject[] {
  const { rows } = model;
  return [
    ...ofNotDeletedIssues(model, rows.agentThread).map((row) => agentThread(model, row)),
    ...ofNotDeletedIssues(model, rows.agentThreadMessage).map((row) => agentThreadMessage(model, row)),
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

function agentThread(model: Model, row: Rows['agentThread'][number]): ModelObject {
  const id = idOf('thread', row.id);
  const keys = agentKeys(row);
  const { currentTurnNumber, lastCompletedTurnNumber, messageCount, lastMessagePreview } = row;
  const isWaiting = row.status === threadStatus.pending || row.status === threadStatus.active;
  const isStale = isWaiting && model.viewer.nowMs - row.lastMessageUtc.getTime() > 30 * 60_000;
  return modelObject(
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
      issue: () => model.find('Issue', keys.issueId),
      agent: () => model.member(keys.agentUserAccountId),
      messages: () => model.where('AgentThreadMessage', 'threadId', id),
    },
  );
}

function agentThreadMessage(model: Model, row: Rows['agentThreadMessage'][number]): ModelObject {
  const keys = agentKeys(row);
  const threadId = idOf('thread', row.threadId);
  const authorUserAccountId = idOf('user', row.authorUserAccountId);
  const replyToMessageId = idOf('message', row.replyToMessageId);
  const { turnNumber, body, followUpActions, sortOrder } = row;
  return modelObject(
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
      thread: () => model.find('AgentThread', threadId),
      agent: () => model.member(keys.agentUserAccountId),
      author: () => model.member(authorUserAccountId),
      authorPrincipalKind: () => model.member(authorUserAccountId)?.principalKind,
      replyTo: () => model.find('AgentThreadMessage', replyToMessageId),
    },
  );
}
