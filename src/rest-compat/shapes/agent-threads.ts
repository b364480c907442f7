import type {
  AgentThreadFieldsFragment,
  AgentThreadMessageFieldsFragment,
  AgentThreadMessagesQuery,
} from '../operations.generated.ts';
import { code, integer, object, objects, type Shape, shape, text, timestamp } from '../shape.ts';

/** The specification's Agent thread. */
export const agentThread: Shape<AgentThreadFieldsFragment> = shape('AgentThread', {
  id: text((thread) => thread.id),
  issueId: text((thread) => thread.issueId),
  applicationId: text((thread) => thread.applicationId ?? ''),
  applicationInstallationId: text((thread) => thread.applicationInstallationId ?? ''),
  agentUserAccountId: text((thread) => thread.agentUserAccountId),
  agentDisplayName: text((thread) => thread.agent.displayName),
  agentAvatarUrl: text((thread) => thread.agent.avatarUrl ?? ''),
  agentPrincipalKind: code('PrincipalKind', (thread) => thread.agent.principalKind),
  status: code('ThreadStatus', (thread) => thread.status),
  lastMessageAuthorType: code('AuthorType', (thread) => thread.lastMessageAuthorType),
  lastMessageType: code('MessageType', (thread) => thread.lastMessageType),
  currentTurnNumber: integer((thread) => thread.currentTurnNumber),
  lastCompletedTurnNumber: integer((thread) => thread.lastCompletedTurnNumber),
  messageCount: integer((thread) => thread.messageCount),
  lastMessagePreview: text((thread) => thread.lastMessagePreview),
  lastMessageUtc: timestamp((thread) => thread.lastMessageUtc),
  startedUtc: timestamp((thread) => thread.startedUtc),
});

const followUpAction: Shape<AgentThreadMessageFieldsFragment['followUpActions'][number]> = shape(
  'FollowUpAction',
  {
    name: text((action) => action.name),
    key: text((action) => action.key),
    color: text((action) => action.color),
  },
);

/** The specification's Agent thread message. */
export const agentThreadMessage: Shape<AgentThreadMessageFieldsFragment> = shape('AgentThreadMessage', {
  id: text((message) => message.id),
  threadId: text((message) => message.threadId),
  issueId: text((message) => message.issueId),
  applicationId: text((message) => message.applicationId ?? ''),
  applicationInstallationId: text((message) => message.applicationInstallationId ?? ''),
  agentUserAccountId: text((message) => message.agentUserAccountId),
  authorUserAccountId: text((message) => message.authorUserAccountId),
  authorDisplayName: text((message) => message.author.displayName),
  authorAvatarUrl: text((message) => message.author.avatarUrl ?? ''),
  authorType: code('AuthorType', (message) => message.authorType),
  messageType: code('MessageType', (message) => message.messageType),
  authorPrincipalKind: code('PrincipalKind', (message) => message.authorPrincipalKind),
  turnNumber: integer((message) => message.turnNumber),
  body: text((message) => message.body),
  replyToMessageId: text((message) => message.replyToMessageId ?? ''),
  followUpActions: objects(followUpAction, (message) => message.followUpActions),
  createdUtc: timestamp((message) => message.createdUtc),
});

type ThreadWithMessages = NonNullable<NonNullable<AgentThreadMessagesQuery['issue']>['agentThread']>;

/** A thread beside its messages. */
export const agentConversation: Shape<ThreadWithMessages> = shape('AgentConversation', {
  thread: object(agentThread, (thread) => thread),
  messages: objects(agentThreadMessage, (thread) => thread.messages.nodes),
});
