import { issueNotDeleted } from './activity.ts';
import { AgentThread } from './agent-threads.ts';
import { builder } from './builder/builder.ts';
import { type Entity, entity } from './builder/entity.ts';
import { AuthorType, MessageType, PrincipalKind } from './builder/enums.ts';
import { via } from './builder/references.ts';
import { limits } from '../model/limits.ts';
import { Member } from './members.ts';

export const FollowUpAction = builder.objectRef<{ name: string; key: string; color: string }>(
  'FollowUpAction',
);
FollowUpAction.implement({
  description: 'A next step that an agent message offers.',
  scope: 'inherited',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The label that people read.' }),
    key: t.exposeString('key', { description: 'The key by which the agent recognizes the action.' }),
    color: t.exposeString('color', { description: 'The color code; empty if it has none.' }),
  }),
});

export const AgentThreadMessage: Entity<'agentThreadMessage'> = entity('AgentThreadMessage', {
  table: 'agentThreadMessage',
  prefix: 'message',
  singular: 'agent thread message',
  plural: 'agent thread messages',
  description: 'A message of an agent thread.',
  scope: 'issues:read',
  fieldScope: ['issues:read', 'issues:write'],
  parentWhere: issueNotDeleted,
  orders: { SORT_ORDER: { column: 'sortOrder', kind: 'int', nullable: false, isUnique: true } },
  defaultOrder: { field: 'SORT_ORDER', direction: 'asc' },
  filter: (f) => ({
    id: f.id('message'),
    authorType: f.enum(AuthorType, 'authorType'),
    messageType: f.enum(MessageType, 'messageType'),
    authorUserAccountId: f.id('user', 'authorUserAccountId'),
    turnNumber: f.int('turnNumber'),
    createdUtc: f.time('createdUtc'),
  }),
});

AgentThreadMessage.implement((t) => ({
  threadId: t.idOf('thread', 'threadId', { description: 'The thread of the message.' }),
  thread: t.reference(AgentThread, 'threadId', {
    scope: 'issues:read',
    description: 'The thread of the message.',
  }),
  issueId: t.idOf('issue', 'issueId', { description: 'The issue that the thread is about.' }),
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
  authorUserAccountId: t.idOf('user', 'authorUserAccountId', { description: 'The account that wrote it.' }),
  author: t.reference(Member, 'authorUserAccountId', {
    by: 'userAccountId',
    description: 'The member who wrote it.',
  }),
  authorType: t.expose('authorType', { type: AuthorType, description: 'A person, the agent or the system.' }),
  authorPrincipalKind: t.computed({
    type: PrincipalKind,
    columns: [],
    references: { author: via(Member, 'authorUserAccountId', ['principalKind'], { by: 'userAccountId' }) },
    compute: (_message, { author }) => author?.principalKind ?? 0,
    description: 'The kind of account that wrote it: a person, an agent or a service.',
  }),
  messageType: t.expose('messageType', { type: MessageType, description: 'The type of the message.' }),
  turnNumber: t.exposeInt('turnNumber', { description: 'The turn of the conversation that it belongs to.' }),
  body: t.exposeString('body', { description: 'The body as plain text.' }),
  replyToMessageId: t.idOf('message', 'replyToMessageId', {
    nullable: true,
    description: 'The message that this one replies to.',
  }),
  replyTo: t.reference(AgentThreadMessage, 'replyToMessageId', {
    nullable: true,
    scope: 'issues:read',
    description: 'The message that this one replies to.',
  }),
  followUpActions: t.computed({
    type: [FollowUpAction],
    columns: ['followUpActions'],
    compute: ({ followUpActions }) => followUpActions,
    description: `The next steps that the message offers, at most ${limits.followUpActions}.`,
  }),
  createdUtc: t.expose('createdUtc', { type: 'DateTime', description: 'When it was written.' }),
}));
