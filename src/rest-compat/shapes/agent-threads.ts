import { limits } from '../../model/limits.ts';
import type {
  AgentThreadFieldsFragment,
  AgentThreadMessageFieldsFragment,
  AgentThreadMessagesQuery,
} from '../operations.generated.ts';
import { code, id, integer, object, objects, type Shape, shape, text, timestamp, url } from '../shape.ts';

/** The specification's Agent thread. */
export const agentThread: Shape<AgentThreadFieldsFragment> = shape('AgentThread', {
  id: id('thread', 'id'),
  issueId: id('issue', 'issueId'),
  applicationId: id('app', 'applicationId', { ifNull: '' }),
  applicationInstallationId: id('installation', 'applicationInstallationId', { ifNull: '' }),
  agentUserAccountId: id('user', 'agentUserAccountId'),
  agentDisplayName: text(limits.name, 'agent.displayName'),
  agentAvatarUrl: url('agent.avatarUrl', { ifNull: '' }),
  agentPrincipalKind: code('PrincipalKind', 'agent.principalKind'),
  status: code('ThreadStatus', 'status'),
  lastMessageAuthorType: code('AuthorType', 'lastMessageAuthorType'),
  lastMessageType: code('MessageType', 'lastMessageType'),
  currentTurnNumber: integer('currentTurnNumber'),
  lastCompletedTurnNumber: integer('lastCompletedTurnNumber'),
  messageCount: integer('messageCount'),
  lastMessagePreview: text(limits.threadPreview, 'lastMessagePreview'),
  lastMessageUtc: timestamp('lastMessageUtc'),
  startedUtc: timestamp('startedUtc'),
});

const followUpAction: Shape<AgentThreadMessageFieldsFragment['followUpActions'][number]> = shape(
  'FollowUpAction',
  {
    name: text(limits.title, 'name'),
    key: text(limits.title, 'key'),
    color: text(limits.title, 'color'),
  },
);

/** The specification's Agent thread message. */
export const agentThreadMessage: Shape<AgentThreadMessageFieldsFragment> = shape('AgentThreadMessage', {
  id: id('message', 'id'),
  threadId: id('thread', 'threadId'),
  issueId: id('issue', 'issueId'),
  applicationId: id('app', 'applicationId', { ifNull: '' }),
  applicationInstallationId: id('installation', 'applicationInstallationId', { ifNull: '' }),
  agentUserAccountId: id('user', 'agentUserAccountId'),
  authorUserAccountId: id('user', 'authorUserAccountId'),
  authorDisplayName: text(limits.name, 'author.displayName'),
  authorAvatarUrl: url('author.avatarUrl', { ifNull: '' }),
  authorType: code('AuthorType', 'authorType'),
  messageType: code('MessageType', 'messageType'),
  authorPrincipalKind: code('PrincipalKind', 'authorPrincipalKind'),
  turnNumber: integer('turnNumber'),
  body: text(limits.comment, 'body'),
  replyToMessageId: id('message', 'replyToMessageId', { ifNull: '' }),
  followUpActions: objects(followUpAction, limits.followUpActions, 'followUpActions'),
  createdUtc: timestamp('createdUtc'),
});

type ThreadWithMessages = NonNullable<NonNullable<AgentThreadMessagesQuery['issue']>['agentThread']>;

/** A thread with its messages. */
export const agentConversation: Shape<ThreadWithMessages> = shape('AgentConversation', {
  thread: object(agentThread, ''),
  messages: objects(agentThreadMessage, limits.threadMessages, 'messages.nodes'),
});
