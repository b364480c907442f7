import { auditActorKind, auditActs } from '../resolvers/audit.ts';
import { builder } from './builder/builder.ts';
import { type Entity, entity } from './builder/entity.ts';
import { naming } from './builder/naming.ts';
import { Member } from './members.ts';

const actorKinds: Record<string, { value: number; description: string }> = {
  MEMBER: { value: auditActorKind.member, description: 'A member, by an access token.' },
  OPERATOR: { value: auditActorKind.operator, description: 'Whoever runs the service, by a command.' },
  SYSTEM: { value: auditActorKind.system, description: 'The service itself, such as at its first start.' },
};
const AuditActorKind = builder.enumType('AuditActorKind', {
  description: 'What stands behind an act.',
  values: actorKinds,
});

const AuditChange = builder.objectRef<{ field: string; before: string | null; after: string | null }>(
  'AuditChange',
);
AuditChange.implement({
  description: 'A value that an act set.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'Which value it is.' }),
    before: t.exposeString('before', {
      nullable: true,
      description: 'The value before, as text or JSON; null when there was none.',
    }),
    after: t.exposeString('after', {
      nullable: true,
      description: 'The value after, as text or JSON; null when there is none.',
    }),
  }),
});

/** Shown to owners and admins: the root sees to that, and `node` asks `mayReadAudit`. */
export const AuditEntry: Entity<'auditEntry'> = entity('AuditEntry', {
  table: 'auditEntry',
  prefix: 'audit',
  singular: 'audit entry',
  plural: 'audit entries',
  description:
    'Something that was done to tokens, roles or the workspace itself. It is written with the act and never changed.',
  scope: 'workspace:admin',
  orders: { OCCURRED: { column: 'occurredUtc', kind: 'time', nullable: false } },
  defaultOrder: { field: 'OCCURRED', direction: 'desc' },
  filter: (f) => ({
    id: f.id('audit'),
    act: f.text('act', 'lower'),
    actorKind: f.enum(AuditActorKind, 'actorKind'),
    actorUserAccountId: f.id('user', 'userAccountId'),
    accessTokenId: f.id('token', 'tokenId'),
    subjectKind: f.text('subjectKind', 'lower'),
    subjectId: { ...f.text('subjectId', 'lower'), ...naming('id') },
    occurredUtc: f.time('occurredUtc'),
  }),
});

AuditEntry.implement((t) => ({
  occurredUtc: t.expose('occurredUtc', { type: 'DateTime', description: 'When it was done.' }),
  act: t.exposeString('act', {
    description: `What was done: ${Object.keys(auditActs)
      .map((act) => `\`${act}\``)
      .join(', ')}.`,
  }),
  actorKind: t.expose('actorKind', { type: AuditActorKind, description: 'What stands behind it.' }),
  actorName: t.exposeString('actorName', {
    description:
      'Who did it, as he was called then: a member, or the user of the machine who gave the command.',
  }),
  actorUserAccountId: t.idOf('user', 'userAccountId', {
    nullable: true,
    description: 'The account that did it; null when it was no member.',
  }),
  actor: t.reference(Member, 'userAccountId', {
    by: 'userAccountId',
    nullable: true,
    description: 'The member who did it; null when it was none.',
  }),
  accessTokenId: t.idOf('token', 'tokenId', {
    nullable: true,
    description: 'The id of the token that it was done with; null when there was none.',
  }),
  address: t.exposeString('address', {
    nullable: true,
    description: 'Where it came from: the address of the client, or the machine of the command.',
  }),
  requestId: t.exposeString('requestId', {
    nullable: true,
    description: 'The id of the request that did it, as the log has it.',
  }),
  subjectKind: t.exposeString('subjectKind', {
    description: 'What kind of thing it was done to, such as `access token` or `member`.',
  }),
  subjectId: t.exposeString('subjectId', {
    nullable: true,
    description: 'The id of what it was done to; null where the name says it.',
  }),
  subjectName: t.exposeString('subjectName', { description: 'What it was done to, as it was called then.' }),
  changes: t.computed({
    type: [AuditChange],
    columns: ['changes'],
    compute: ({ changes }) => changes,
    description: 'The values that were set, at most 10; none is a secret.',
  }),
}));
