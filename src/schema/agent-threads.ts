import { threadStatus } from '../model/codes.ts';
import { issueNotDeleted } from './activity.ts';
import { AgentThreadMessage } from './agent-messages.ts';
import { type Entity, entity } from './builder/entity.ts';
import { AuthorType, MessageType, ThreadStatus } from './builder/enums.ts';
import { Issue } from './issues.ts';
import { Member } from './members.ts';
import { limits } from '../model/limits.ts';

export const AgentThread: Entity<'agentThread'> = entity('AgentThread', {
  table: 'agentThread',
  prefix: 'thread',
  singular: 'agent thread',
  plural: 'agent threads',
  description: 'The conversation of an issue with the agent; there is at most one.',
  scope: 'issues:read',
  fieldScope: ['issues:read', 'issues:write'],
  parentWhere: issueNotDeleted,
});

const staleAfterMs = 30 * 60_000;

/** A turn without a message for half an hour is stale (docs/contract.md, "Writes"). */
function statusAt(now: Date, status: number, lastMessageUtc: Date): number {
  const isRunning = status === threadStatus.pending || status === threadStatus.active;
  const isStale = isRunning && now.getTime() - lastMessageUtc.getTime() > staleAfterMs;
  return isStale ? threadStatus.stale : status;
}

AgentThread.implement((t) => ({
  issueId: t.idOf('issue', 'issueId', { description: 'The issue that the thread is about.' }),
  issue: t.reference(Issue, 'issueId', {
    scope: 'issues:read',
    description: 'The issue that the thread is about.',
  }),
  applicationId: t.idOf('app', 'applicationId', {
    nullable: true,
    description: 'The application that the agent belongs to, if any.',
  }),
  applicationInstallationId: t.idOf('installation', 'applicationInstallationId', {
    nullable: true,
    description: 'The installation of that application in the workspace; null if the agent belongs to none.',
  }),
  agentUserAccountId: t.idOf('user', 'agentUserAccountId', { description: 'The account of the agent.' }),
  agent: t.reference(Member, 'agentUserAccountId', {
    by: 'userAccountId',
    description: 'The member that is the agent.',
  }),
  status: t.computedForViewer({
    type: ThreadStatus,
    columns: ['status', 'lastMessageUtc'],
    compute: ({ status, lastMessageUtc }, _references, { now }) => statusAt(now, status, lastMessageUtc),
    description: 'The status of the thread; it follows from the last message and the time since then.',
  }),
  lastMessageAuthorType: t.expose('lastMessageAuthorType', {
    type: AuthorType,
    description: 'The kind of author of the last message.',
  }),
  lastMessageType: t.expose('lastMessageType', {
    type: MessageType,
    description: 'The type of the last message.',
  }),
  currentTurnNumber: t.exposeInt('currentTurnNumber', {
    description: 'The turn that is running or ran last.',
  }),
  lastCompletedTurnNumber: t.exposeInt('lastCompletedTurnNumber', {
    description: 'The last turn that was completed; 0 if none was.',
  }),
  messageCount: t.exposeInt('messageCount', { description: 'The number of its messages.' }),
  lastMessagePreview: t.exposeString('lastMessagePreview', {
    description: 'The beginning of the last message.',
  }),
  lastMessageUtc: t.expose('lastMessageUtc', {
    type: 'DateTime',
    description: 'When the last message was written.',
  }),
  startedUtc: t.expose('startedUtc', {
    type: 'DateTime',
    description: 'When the first message was written.',
  }),
  messages: t.children(AgentThreadMessage, {
    key: 'threadId',
    maxPageSize: limits.threadMessages,
    description: `Its messages, oldest first; up to ${limits.threadMessages.toLocaleString('en')} a page.`,
  }),
}));
