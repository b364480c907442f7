import { eventTypes } from '../model/events.ts';
import { limits } from '../model/limits.ts';
import {
  changeCursor,
  type ChangePage as Page,
  defaultChanges,
  maxChanges,
  type PreviousValue as Previous,
  previousValuesOf,
  readChanges,
  subjectIdOf,
} from '../resolvers/changes/changes.ts';
import { AgentThreadMessage } from './agent-messages.ts';
import { builder } from './builder/builder.ts';
import { type Entity, entity } from './builder/entity.ts';
import { ChangeOrigin } from './builder/enums.ts';
import { needsOfFilter } from './builder/lists.ts';
import { naming } from './builder/naming.ts';
import { Comment } from './comments.ts';
import { Issue } from './issues.ts';
import { Member } from './members.ts';
import { Team } from './teams.ts';

const PreviousValue = builder.objectRef<Previous>('PreviousValue');
PreviousValue.implement({
  description: 'The value that a field had before a change.',
  scope: 'inherited',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'The name of the field.' }),
    value: t.exposeString('value', {
      nullable: true,
      description:
        'The value as text: ids as they are everywhere, codes as the numbers of REST, lists as JSON. Null if the field was empty, or is a long text.',
    }),
  }),
});

/**
 * `node` cannot read a change: only the root field `changes` restricts a token to the events that its scopes cover.
 */
export const Change: Entity<'change'> = entity('Change', {
  table: 'change',
  singular: 'change',
  plural: 'changes',
  description:
    'An entry of the log of changes: something that happened in the workspace. It never changes, and is removed after some days.',
  scope: 'token',
  filter: (f) => ({
    eventType: f.text('eventType', 'lower'),
    issueId: f.id('issue', 'issueId'),
    teamId: f.id('team', 'teamId'),
    actorUserAccountId: f.id('user', 'actorUserAccountId'),
    origin: f.enum(ChangeOrigin, 'origin'),
    occurredUtc: f.time('occurredUtc'),
  }),
});

Change.implement((t) => ({
  id: t.idOf('change', 'id', {
    description:
      'The id of the change: `change_…`. A client that receives a change twice recognizes it by this id.',
  }),
  cursor: t.computed({
    type: 'String',
    columns: ['position', 'tag'],
    compute: changeCursor,
    description: 'The cursor after this change, the same for every transport.',
  }),
  position: t.computed({
    type: 'String',
    columns: ['position'],
    compute: ({ position }) => String(position),
    description: 'Its number in the log of the workspace, from 1 without gaps, in decimal digits.',
  }),
  eventType: t.exposeString('eventType', {
    description: `What happened: ${eventTypes.map((type) => `\`${type}\``).join(', ')}.`,
  }),
  occurredUtc: t.expose('occurredUtc', { type: 'DateTime', description: 'When it happened.' }),
  origin: t.expose('origin', { type: ChangeOrigin, description: 'What made the change.' }),
  requestId: t.exposeString('requestId', {
    nullable: true,
    description:
      'The `X-Request-Id` of the request that made it, by which a client recognizes its own changes; null if there was none.',
  }),
  actorUserAccountId: t.idOf('user', 'actorUserAccountId', {
    nullable: true,
    description: 'The account that did it; null if no member did, as in an import.',
  }),
  actor: t.reference(Member, 'actorUserAccountId', {
    by: 'userAccountId',
    nullable: true,
    description: 'The member who did it; null if no member did.',
  }),
  subjectId: t.computed({
    type: 'ID',
    columns: ['eventType', 'subjectId'],
    compute: subjectIdOf,
    description: 'The id of the object that it is about, which may have been deleted since.',
  }),
  issueId: t.idOf('issue', 'issueId', {
    nullable: true,
    description: 'The issue that it belongs to; null if it belongs to none.',
  }),
  issue: t.reference(Issue, 'issueId', {
    nullable: true,
    scope: 'issues:read',
    description:
      'The issue that the change belongs to, as it is now; null if the issue was deleted, or if the change belongs to no issue.',
  }),
  teamId: t.idOf('team', 'teamId', {
    nullable: true,
    description: 'The team that it belongs to; null if it belongs to none.',
  }),
  team: t.reference(Team, 'teamId', {
    nullable: true,
    description: 'The team that the change belongs to, as it is now; null if it belongs to no team.',
  }),
  comment: t.reference(Comment, 'subjectId', {
    checksParent: true,
    nullable: true,
    scope: 'issues:read',
    description:
      'The comment that it is about, as it is now; null if it or its issue was deleted, or if the change is about something else.',
  }),
  agentMessage: t.reference(AgentThreadMessage, 'subjectId', {
    checksParent: true,
    nullable: true,
    scope: 'issues:read',
    description:
      'The message of an agent thread that it is about; null if its issue was deleted, or if the change is about something else.',
  }),
  fields: t.computed({
    type: ['String'],
    columns: ['fields'],
    compute: ({ fields }) => fields,
    description: `The names of the fields that were set, at most ${limits.changedFields}; empty unless something was updated.`,
  }),
  previous: t.computed({
    type: [PreviousValue],
    columns: ['fields', 'previous', 'eventType'],
    compute: previousValuesOf,
    description: `The previous values of the fields that were set, as far as they are known: at most ${limits.changedFields}.`,
  }),
}));

const ChangePage = builder.objectRef<Page>('ChangePage');
ChangePage.implement({
  description: 'Changes after a cursor, oldest first.',
  scope: 'inherited',
  fields: (t) => ({
    nodes: t.expose('nodes', {
      type: [Change.ref],
      description: `The changes that match and that the scopes of the token cover, at most ${maxChanges}. There may be none although \`hasMore\` is true.`,
    }),
    cursor: t.exposeString('cursor', {
      description: 'The cursor to continue from, with any transport. It is set even if there are no changes.',
    }),
    hasMore: t.exposeBoolean('hasMore', {
      description:
        'Whether the log has entries after the cursor. It is not known yet whether any of them match.',
    }),
  }),
});

builder.queryFields((t) => ({
  changes: t.source({
    type: ChangePage,
    scope: 'token',
    description: `What happened in the workspace, oldest first, as far as the scopes of the token cover it. Raises CURSOR_EXPIRED if entries after the cursor have been removed from the log, which keeps them for some days.`,
    args: {
      after: t.arg.string({
        extensions: naming('cursor'),
        description:
          'The changes after this cursor: `cursor` of an earlier answer or of a change, or `workspace { changeCursor }`. When omitted, the page starts at the beginning of the log.',
      }),
      first: t.arg.int({
        description: `The maximum number of changes to return, 1 to ${maxChanges}, by default ${defaultChanges}.`,
      }),
      filter: t.arg({ type: Change.filterInput(), description: 'The changes to return; all when omitted.' }),
      waitSeconds: t.arg.int({
        description: `The number of seconds to wait if there is no such change yet: 0, the default, to ${limits.changesWaitSeconds}. Only one field of an operation may wait. It is read after the others, and answers at once if one of them fails.`,
      }),
    },
    extensions: {
      readsLog: true,
      waits: ({ waitSeconds }: { waitSeconds?: number | null }) => (waitSeconds ?? 0) > 0,
      rows: ({ first }: { first?: number | null }) =>
        Math.min(Math.max(first ?? defaultChanges, 1), maxChanges),
      needsOfArguments: needsOfFilter(Change),
    },
    load: (ctx, args) => readChanges(ctx, () => Change.filterFields(), args),
  }),
}));
