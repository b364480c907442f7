import type { WebhookAttempt as Attempt } from '../db/tables/webhook-tables.ts';
import { webhookDeliveryState } from '../model/codes.ts';
import { eventTypes } from '../model/events.ts';
import { limits } from '../model/limits.ts';
import { countChangesAfter, readNewestCursor } from '../resolvers/changes/changes.ts';
import { scopes as allScopes } from '../resolvers/context.ts';
import { bodyFor } from '../resolvers/webhooks/webhook-deliveries.ts';
import { builder } from './builder/builder.ts';
import { type Entity, entity } from './builder/entity.ts';
import { WebhookDeliveryState, WebhookState } from './builder/enums.ts';
import { Issue } from './issues.ts';
import { Member } from './members.ts';
import { Team } from './teams.ts';

const notDeleted = { column: 'deletedUtc', isNull: true } as const;

export const Webhook: Entity<'webhook'> = entity('Webhook', {
  table: 'webhook',
  prefix: 'webhook',
  singular: 'webhook',
  plural: 'webhooks',
  description:
    'A URL that receives changes as they happen. Messages are signed, arrive at least once, and are in order for each issue.',
  scope: 'workspace:admin',
  managersOnly: 'webhooks',
  where: notDeleted,
  orders: { CREATED: { column: 'createdUtc', kind: 'time', nullable: false } },
  defaultOrder: { field: 'CREATED', direction: 'asc' },
  filter: (f) => ({
    id: f.id('webhook'),
    state: f.enum(WebhookState, 'state'),
    createdUtc: f.time('createdUtc'),
  }),
});

const WebhookAttempt = builder.objectRef<Attempt>('WebhookAttempt');
WebhookAttempt.implement({
  description: 'One attempt to deliver a message.',
  scope: 'inherited',
  fields: (t) => ({
    utc: t.exposeString('utc', { description: 'When it was sent, in UTC.' }),
    status: t.exposeInt('status', {
      nullable: true,
      description: 'The HTTP status of the answer; null if there was none.',
    }),
    ms: t.exposeInt('ms', { description: 'How many milliseconds it took.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why there was no answer.' }),
    head: t.exposeString('head', { description: 'The first bytes of the answer, at most 1,024.' }),
  }),
});

export const WebhookDelivery: Entity<'webhookDelivery'> = entity('WebhookDelivery', {
  table: 'webhookDelivery',
  prefix: 'whdelivery',
  singular: 'webhook delivery',
  plural: 'webhook deliveries',
  description: 'A message to a webhook. It is kept for three days after it was delivered or has failed.',
  scope: 'workspace:admin',
  managersOnly: 'webhooks',
  parentWhere: { column: 'webhookId', references: 'webhook', by: 'id', where: notDeleted },
  orders: { CREATED: { column: 'createdUtc', kind: 'time', nullable: false } },
  defaultOrder: { field: 'CREATED', direction: 'desc' },
  filter: (f) => ({
    id: f.id('whdelivery'),
    state: f.enum(WebhookDeliveryState, 'state'),
    eventType: f.text('eventType', 'lower'),
    createdUtc: f.time('createdUtc'),
  }),
});

Webhook.implement((t) => ({
  url: t.expose('url', { type: 'URL', description: 'Where messages are sent to.' }),
  description: t.exposeString('description', { description: 'What it is for.' }),
  eventTypes: t.exposeStringList('eventTypes', {
    description: `The types of events that it receives, at most ${eventTypes.length}; if there are none, all that its scopes cover.`,
  }),
  teamId: t.idOf('team', 'teamId', {
    nullable: true,
    description: 'The team whose events it receives; null for those of the whole workspace.',
  }),
  team: t.reference(Team, 'teamId', {
    nullable: true,
    description: 'The team whose events it receives; null for those of the whole workspace.',
  }),
  hasImports: t.exposeBoolean('hasImports', {
    description: 'Whether it receives changes made by imports.',
  }),
  state: t.expose('state', { type: WebhookState, description: 'Whether messages are sent to it.' }),
  disabledReason: t.exposeString('disabledReason', {
    nullable: true,
    description: 'Why the service has disabled it; null if it is not disabled, or if a member disabled it.',
  }),
  scopes: t.exposeStringList('scopes', {
    description: `Its scopes, at most ${allScopes.length}: those of the token that changed it last. It receives only events that they cover.`,
  }),
  userAccountId: t.idOf('user', 'userAccountId', {
    description: 'The account that changed it last. The webhook receives what this account may read.',
  }),
  member: t.reference(Member, 'userAccountId', {
    by: 'userAccountId',
    description: 'The member who changed it last. The webhook receives what this member may read.',
  }),
  failures: t.exposeInt('failures', { description: 'How many attempts have failed since the last success.' }),
  lastSuccessUtc: t.expose('lastSuccessUtc', {
    type: 'DateTime',
    nullable: true,
    description: 'When a message was delivered last; null if none was.',
  }),
  nextAttemptUtc: t.expose('nextAttemptUtc', {
    type: 'DateTime',
    nullable: true,
    description: 'When it is tried again; null unless it is backing off.',
  }),
  backlog: t.computedForViewer({
    type: 'Int',
    columns: ['position'],
    compute: ({ position }, _references, { changeCursor }) => countChangesAfter(position, changeCursor),
    extensions: { firstRead: readNewestCursor },
    description:
      'The number of changes in the log after the last one that was processed for it, whether they match or not.',
  }),
  waitingCount: t.count(WebhookDelivery, {
    key: 'webhookId',
    filter: { column: 'state', is: 'eq', value: webhookDeliveryState.waiting },
    description: 'How many messages wait to be delivered.',
  }),
  previousSecretUntilUtc: t.expose('previousUntilUtc', {
    type: 'DateTime',
    nullable: true,
    description: 'The time until which messages are also signed with the previous secret.',
  }),
  deliveries: t.children(WebhookDelivery, {
    key: 'webhookId',
    description: 'Its messages of the last few days, newest first.',
  }),
  createdUtc: t.expose('createdUtc', { type: 'DateTime', description: 'When it was created.' }),
  updatedUtc: t.expose('updatedUtc', { type: 'DateTime', description: 'When a member changed it last.' }),
  revision: t.exposeInt('revision', {
    description: 'The number of changes so far, for optimistic locking (`expectedRevision`).',
  }),
}));

WebhookDelivery.implement((t) => ({
  webhookId: t.idOf('webhook', 'webhookId', { description: 'The webhook.' }),
  changeId: t.idOf('change', 'changeId', {
    nullable: true,
    description:
      'The change that it reports, which is the `webhook-id` of the message; null if it reports no change.',
  }),
  eventType: t.exposeString('eventType', { description: 'The `type` of the message.' }),
  issueId: t.idOf('issue', 'issueId', {
    nullable: true,
    description: 'The issue that it is about; null if it is about none.',
  }),
  issue: t.reference(Issue, 'issueId', {
    nullable: true,
    scope: 'issues:read',
    description:
      'The issue that the message is about, as it is now; null if the issue was deleted, or if the message is about no issue.',
  }),
  state: t.expose('state', { type: WebhookDeliveryState, description: 'Whether it has arrived.' }),
  attemptCount: t.exposeInt('attemptCount', { description: 'How often it was sent.' }),
  attempts: t.computed({
    type: [WebhookAttempt],
    columns: ['attempts'],
    compute: ({ attempts }) => attempts,
    description: `The last attempts, the newest last: at most ${limits.webhookAttempts}.`,
  }),
  nextAttemptUtc: t.expose('nextAttemptUtc', {
    type: 'DateTime',
    nullable: true,
    description: 'When it is due; null when it has arrived or failed.',
  }),
  body: t.computedForViewer({
    type: 'String',
    nullable: true,
    columns: ['eventType', 'body'],
    compute: (row, _references, ctx) => bodyFor(ctx, row),
    description: 'The body, as it is sent; null if the scopes of the token do not cover the event.',
  }),
  createdUtc: t.expose('createdUtc', { type: 'DateTime', description: 'When it was created.' }),
}));

builder.queryFields((t) => ({
  webhooks: t.all(Webhook, {
    description: `The webhooks of the workspace, at most ${limits.webhooks}. Only owners and admins may read them.`,
  }),
}));
