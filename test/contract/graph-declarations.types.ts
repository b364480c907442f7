/**
 * Proof that a wrong key, column or parent in the declaration of a type of the graph does not compile. Nothing here runs:
 * `npm run typecheck` reads it, and fails on any `@ts-expect-error` below which there is no error.
 */
import { Comment } from '../../src/schema/comments.ts';
import { Delivery } from '../../src/schema/deliveries.ts';
import { entity } from '../../src/schema/builder/entity.ts';
import { Priority } from '../../src/schema/builder/enums.ts';
import { Issue } from '../../src/schema/issues.ts';
import { Label } from '../../src/schema/labels.ts';
import { through } from '../../src/schema/builder/lists.ts';
import { Member } from '../../src/schema/members.ts';
import { RepositoryContext } from '../../src/schema/repositories.ts';
import { Team } from '../../src/schema/teams.ts';
import { via } from '../../src/schema/builder/references.ts';
import '../../src/schema/builder/lists.ts';

const description = 'Only the types matter here.';
const byName = [{ column: 'nameFold' }] as const;
const assignees = through('issueAssignee', 'issueId', 'userAccountId', 'member', 'userAccountId');

Issue.implement((t) => ({
  // idOf
  valid: t.idOf('team', 'teamId', { description }),
  validNull: t.idOf('project', 'projectId', { nullable: true, description }),
  // @ts-expect-error -- no such column
  absentColumn: t.idOf('team', 'teamUuid', { description }),
  // @ts-expect-error -- an id needs a text column
  numberAsId: t.idOf('team', 'number', { description }),
  // @ts-expect-error -- no such kind of id
  absentPrefix: t.idOf('squad', 'teamId', { description }),
  // @ts-expect-error -- the column may be null, so the field must say that it may be
  silentNull: t.idOf('project', 'projectId', { description }),
  // @ts-expect-error -- every field has a description
  undescribed: t.idOf('team', 'teamId', {}),

  // reference
  team: t.reference(Team, 'teamId', { description }),
  reporter: t.reference(Member, 'reporterUserAccountId', { by: 'userAccountId', description }),
  // @ts-expect-error -- no such column of the parent
  absentKey: t.reference(Team, 'squadId', { description }),
  // @ts-expect-error -- a column of another table than the parent's
  keyOfAnother: t.reference(Team, 'isInitial', { description }),
  // @ts-expect-error -- a reference over a column that may be null is itself nullable
  silentReference: t.reference(Delivery, 'deliveryId', { description }),
  // @ts-expect-error -- members are found by id or by account
  wrongBy: t.reference(Member, 'reporterUserAccountId', { by: 'emailAddress', description }),

  // children
  comments: t.children(Comment, { key: 'issueId', description }),
  throughJoinTable: t.children(Member, { through: assignees, description }),
  // @ts-expect-error -- the key is a column of the children
  childKey: t.children(Comment, { key: 'parentIssueId', description }),
  // @ts-expect-error -- the key holds an id, not a number
  childKeyNumber: t.children(Issue, { key: 'number', description }),
  // @ts-expect-error -- `of` is a column of the parent
  childOf: t.children(Comment, { key: 'issueId', parentKey: 'displayName', description }),
  // @ts-expect-error -- children need a key or a join table
  childNeither: t.children(Comment, { description }),
  // @ts-expect-error -- the join table leads to members
  childThrough: t.children(Comment, { through: assignees, description }),
  // @ts-expect-error -- the scope of a connection is that of its type
  childScope: t.children(Comment, { key: 'issueId', scope: 'public', description }),

  // list, listOf and count
  assignees: t.list(Member, { through: assignees, orderBy: byName, description }),
  labelIds: t.listOf(Label, { key: 'teamId', orderBy: byName, prefix: 'label', column: 'id', description }),
  // @ts-expect-error -- the key is a column of the children
  listKey: t.list(Label, { key: 'issueId', orderBy: byName, description }),
  // @ts-expect-error -- a list has an order
  listUnordered: t.list(Label, { key: 'teamId', description }),
  listOfColumn: t.listOf(Label, {
    key: 'teamId',
    orderBy: byName,
    prefix: 'label',
    // @ts-expect-error -- the column is one of the children
    column: 'userAccountId',
    description,
  }),
  // @ts-expect-error -- the key is a column of the children
  countKey: t.count(Issue, { key: 'labelId', filter: { all: [] }, description }),

  // one, exists and sums
  repository: t.one(RepositoryContext, { key: 'teamId', flag: 'isDefaultForAgents', description }),
  // @ts-expect-error -- the key is a column of the other type
  oneKey: t.one(RepositoryContext, { key: 'issueId', description }),
  // @ts-expect-error -- the flag is a column of the other type
  oneFlag: t.one(RepositoryContext, { key: 'teamId', flag: 'isDefault', description }),
  isSubscribed: t.exists('issueSubscription', { key: 'issueId', viewer: 'userAccountId', description }),
  // @ts-expect-error -- no such table
  existsTable: t.exists('subscription', { key: 'issueId', viewer: 'userAccountId', description }),
  // @ts-expect-error -- no such column of the table
  existsKey: t.exists('issueSubscription', { key: 'teamId', viewer: 'userAccountId', description }),
  // @ts-expect-error -- no such column of the table
  existsViewer: t.exists('issueSubscription', { key: 'issueId', viewer: 'memberId', description }),
  sumsColumn: t.sums('projectCount', {
    key: 'projectId',
    // @ts-expect-error -- no such column to sum
    columns: ['points'],
    compute: () => 0,
    description,
  }),
  sumsUse: t.sums('projectCount', {
    key: 'projectId',
    columns: ['issueCount'],
    // @ts-expect-error -- a column that was not asked for
    compute: ({ completedIssueCount }) => completedIssueCount,
    description,
  }),

  // computed
  key: t.computed({
    type: 'String',
    columns: ['number'],
    references: { team: via(Team, 'teamId', ['code']) },
    compute: ({ number }, { team }) => `${team?.code}-${number}`,
    description,
  }),
  // @ts-expect-error -- no such column of the parent
  computedColumn: t.computed({ type: 'String', columns: ['key'], compute: () => '', description }),
  computedUndeclared: t.computed({
    type: 'String',
    columns: ['number'],
    // @ts-expect-error -- a column that was not named
    compute: ({ title }) => title,
    description,
  }),
  computedReference: t.computed({
    type: 'String',
    columns: [],
    references: { team: via(Team, 'teamId', ['code']) },
    // @ts-expect-error -- a column of the reference that was not named
    compute: (_issue, { team }) => team?.name,
    description,
  }),
  computedAbsent: t.computed({
    type: 'String',
    columns: [],
    references: { team: via(Team, 'teamId', ['code']) },
    // @ts-expect-error -- the row that is referred to may be absent
    compute: (_issue, { team }) => team.code,
    description,
  }),
  computedKey: t.computed({
    type: 'String',
    columns: [],
    // @ts-expect-error -- the key is not a column of the parent
    references: { team: via(Team, 'squadId', ['code']) },
    compute: () => '',
    description,
  }),
  computedNested: t.computed({
    type: 'String',
    columns: [],
    references: {
      // @ts-expect-error -- the nested key is not a column of the row before it
      team: via(Team, 'teamId', ['code'], { nested: { lead: via(Member, 'reporterId', ['displayName']) } }),
    },
    compute: () => '',
    description,
  }),
  concatenatedOwn: t.concatenated({
    type: 'String',
    references: { team: via(Team, 'teamId', ['code']) },
    // @ts-expect-error -- not a column of the parent
    pieces: [{ column: 'serial' }],
    description,
  }),
  concatenatedReferred: t.concatenated({
    type: 'String',
    references: { team: via(Team, 'teamId', ['code']) },
    // @ts-expect-error -- a column of the reference that was not named
    pieces: [{ of: 'team', column: 'name' }],
    description,
  }),
  concatenatedUnknown: t.concatenated({
    type: 'String',
    references: { team: via(Team, 'teamId', ['code']) },
    // @ts-expect-error -- no reference has that name
    pieces: [{ of: 'squad', column: 'code' }],
    description,
  }),
  computedContext: t.computed({
    type: 'Boolean',
    columns: [],
    // @ts-expect-error -- a field that depends on the viewer needs computedForViewer
    compute: (_issue, _references, { principal }) => principal.role === 1,
    description,
  }),
  viewerCanUpdate: t.computedForViewer({
    type: 'Boolean',
    columns: [],
    compute: (_issue, _references, { principal }) => principal.role === 1,
    description,
  }),

  // expose
  title: t.exposeString('title', { description }),
  // @ts-expect-error -- no such column
  exposeAbsent: t.exposeString('summary', { description }),
  // @ts-expect-error -- the column is text
  exposeKind: t.exposeInt('title', { description }),
  // @ts-expect-error -- the column may be null, so the field must say that it may be
  exposeNull: t.exposeInt('estimateValue', { description }),
  // @ts-expect-error -- the column is a time, the type is a text
  exposeType: t.expose('createdUtc', { type: 'String', description }),
  // @ts-expect-error -- no such scope
  exposeScope: t.exposeString('title', { scope: 'issues:admin', description }),
}));

// via
via(Team, 'teamId', ['code', 'name']);
// @ts-expect-error -- no such column of the row that is referred to
via(Team, 'teamId', ['displayName']);
// @ts-expect-error -- rows are referred to by id or by account
via(Member, 'reporterUserAccountId', ['displayName'], { by: 'emailAddress' });

// through
// @ts-expect-error -- no such join table
through('assignee', 'issueId', 'userAccountId', 'member', 'userAccountId');
// @ts-expect-error -- no such column of the join table
through('issueAssignee', 'teamId', 'userAccountId', 'member', 'userAccountId');
// @ts-expect-error -- no such column of the join table
through('issueAssignee', 'issueId', 'memberId', 'member', 'userAccountId');
// @ts-expect-error -- no such column of the target
through('issueAssignee', 'issueId', 'userAccountId', 'member', 'accountId');

const labels = { table: 'label', singular: 'label', plural: 'labels', description, scope: 'token' } as const;

// entity: table, scope and orders
// @ts-expect-error -- no such table
entity('Absent', { ...labels, table: 'tag' });
// @ts-expect-error -- no such scope
entity('Scoped', { ...labels, scope: 'labels:read' });
// @ts-expect-error -- no such prefix of ids
entity('Prefixed', { ...labels, prefix: 'tag' });
entity('Ordered', { ...labels, orders: { NAME: { column: 'nameFold', kind: 'text', nullable: false } } });
entity('OrderColumn', {
  ...labels,
  // @ts-expect-error -- no such column
  orders: { NAME: { column: 'titleFold', kind: 'text', nullable: false } },
});
// @ts-expect-error -- the column is text
entity('OrderKind', { ...labels, orders: { NAME: { column: 'nameFold', kind: 'int', nullable: false } } });
// @ts-expect-error -- the column is never null
entity('OrderNull', { ...labels, orders: { NAME: { column: 'nameFold', kind: 'text', nullable: true } } });
entity('OrderNotNull', {
  ...labels,
  // @ts-expect-error -- the column may be null
  orders: { GROUP: { column: 'groupId', kind: 'text', nullable: false } },
});

// filters
entity('Filtered', {
  ...labels,
  filter: (f) => ({
    name: f.text('nameFold'),
    isGroup: f.boolean('isGroup'),
    teamId: f.id('team', 'teamId'),
    team: f.reference(Team, 'teamId'),
    createdUtc: f.time('createdUtc'),
    // @ts-expect-error -- no such column
    absent: f.text('titleFold'),
    // @ts-expect-error -- the column is text
    int: f.int('nameFold'),
    // @ts-expect-error -- the column is a boolean
    text: f.text('isGroup'),
    // @ts-expect-error -- the column is text
    boolean: f.boolean('nameFold'),
    // @ts-expect-error -- the column is a time, not a date
    date: f.date('createdUtc'),
    // @ts-expect-error -- the column is text
    time: f.time('nameFold'),
    // @ts-expect-error -- the column has no codes
    enum: f.enum(Priority, 'nameFold'),
    // @ts-expect-error -- no such column
    id: f.id('team', 'squadId'),
    // @ts-expect-error -- no such kind of id
    prefix: f.id('squad', 'teamId'),
    // @ts-expect-error -- no such column
    reference: f.reference(Team, 'squadId'),
    // @ts-expect-error -- rows are referred to by id or by account
    by: f.reference(Member, 'teamId', 'emailAddress'),
    // @ts-expect-error -- no such column of the row itself
    some: f.some(Member, assignees, { own: 'userAccountId' }),
  }),
});
