import { limits } from '../../schema/builder/limits.ts';
import type {
  AgentThreadFieldsFragment,
  AgentThreadMessageFieldsFragment,
  AgentThreadMessagesQuery,
} from '../operations.generated.ts';
import { code, id, integer, object, objects, type Shape, shape, text, timestamp, url } from '../shape.ts';

/** The specification's Agent thread. */
export const agentThread: Shape<AgentThreadFieldsFragment> = shape('AgentThread', {
  id: id('thread', (thread) => thread.id),
  issueId: id('issue', (thread) => thread.issueId),
  applicationId: id('app', (thread) => thread.applicationId ?? ''),
  applicationInstallationId: id('installation', (thread) => thread.applicationInstallationId ?? ''),
  agentUserAccountId: id('user', (thread) => thread.agentUserAccountId),
  agentDisplayName: text(limits.name, (thread) => thread.agent.displayName),
  agentAvatarUrl: url((thread) => thread.agent.avatarUrl ?? ''),
  agentPrincipalKind: code('PrincipalKind', (thread) => thread.agent.principalKind),
  status: code('ThreadStatus', (thread) => thread.status),
  lastMessageAuthorType: code('AuthorType', (thread) => thread.lastMessageAuthorType),
  lastMessageType: code('MessageType', (thread) => thread.lastMessageType),
  currentTurnNumber: integer((thread) => thread.currentTurnNumber),
  lastCompletedTurnNumber: integer((thread) => thread.lastCompletedTurnNumber),
  messageCount: integer((thread) => thread.messageCount),
  lastMessagePreview: text(limits.threadPreview, (thread) => thread.lastMessagePreview),
  lastMessageUtc: timestamp((thread) => thread.lastMessageUtc),
  startedUtc: timestamp((thread) => thread.startedUtc),
});

const followUpAction: Shape<AgentThreadMessageFieldsFragment['followUpActions'][number]> = shape(
  'FollowUpAction',
  {
    name: text(limits.title, (action) => action.name),
    key: text(limits.title, (action) => action.key),
    color: text(limits.title, (action) => action.color),
  },
);

/** The specification's Agent thread message. */
export const agentThreadMessage: Shape<AgentThreadMessageFieldsFragment> = shape('AgentThreadMessage', {
  id: id('message', (message) => message.id),
  threadId: id('thread', (message) => message.threadId),
  issueId: id('issue', (message) => message.issueId),
  applicationId: id('app', (message) => message.applicationId ?? ''),
  applicationInstallationId: id('installation', (message) => message.applicationInstallationId ?? ''),
  agentUserAccountId: id('user', (message) => message.agentUserAccountId),
  authorUserAccountId: id('user', (message) => message.authorUserAccountId),
  authorDisplayName: text(limits.name, (message) => message.author.displayName),
  authorAvatarUrl: url((message) => message.author.avatarUrl ?? ''),
  authorType: code('AuthorType', (message) => message.authorType),
  messageType: code('MessageType', (message) => message.messageType),
  authorPrincipalKind: code('PrincipalKind', (message) => message.authorPrincipalKind),
  turnNumber: integer((message) => message.turnNumber),
  body: text(limits.comment, (message) => message.body),
  replyToMessageId: id('message', (message) => message.replyToMessageId ?? ''),
  followUpActions: objects(followUpAction, limits.followUpActions, (message) => message.followUpActions),
  createdUtc: timestamp((message) => message.createdUtc),
});

type ThreadWithMessages = NonNullable<NonNullable<AgentThreadMessagesQuery['issue']>['agentThread']>;

/** A thread beside its messages. */
export const agentConversation: Shape<ThreadWithMessages> = shape('AgentConversation', {
  thread: object(agentThread, (thread) => thread),
  messages: objects(agentThreadMessage, limits.threadMessages, (thread) => thread.messages.nodes),
});
