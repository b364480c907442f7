import { auditActorKind, auditActs } from '../model/audit-acts.ts';
import { builder } from './builder/builder.ts';
import { type Entity, entity } from './builder/entity.ts';
import { naming } from './builder/naming.ts';
import { Member } from './members.ts';

const actorKinds: Record<string, { value: number; description: string }> = {
  MEMBER: { value: auditActorKind.member, description: 'A member, by an access token.' },
  OPERATOR: { value: auditActorKind.operator, description: 'The operator of the service, by a command.' },
  SYSTEM: {
    value: auditActorKind.system,
    description: 'The service itself, for example at its first start.',
  },
};
const AuditActorKind = builder.enumType('AuditActorKind', {
  description: 'The kind of actor of an audited action.',
  values: actorKinds,
});

const AuditChange = builder.objectRef<{ field: string; before: string | null; after: string | null }>(
  'AuditChange',
);
AuditChange.implement({
  description: 'A value that an action set.',
  scope: 'inherited',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'The name of the value.' }),
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

export const AuditEntry: Entity<'auditEntry'> = entity('AuditEntry', {
  table: 'auditEntry',
  prefix: 'audit',
  singular: 'audit entry',
  plural: 'audit entries',
  description:
    'A record of an action on access tokens, roles or the workspace itself. It is written in the same transaction as the action and never changes.',
  scope: 'workspace:admin',
  managersOnly: 'the audit log',
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
  occurredUtc: t.expose('occurredUtc', { type: 'DateTime', description: 'When the action happened.' }),
  act: t.exposeString('act', {
    description: `The action: ${Object.keys(auditActs)
      .map((act) => `\`${act}\``)
      .join(', ')}.`,
  }),
  actorKind: t.expose('actorKind', { type: AuditActorKind, description: 'The kind of actor.' }),
  actorName: t.exposeString('actorName', {
    description:
      'The name of the actor at that time: of the member, or of the user on the machine who ran the command.',
  }),
  actorUserAccountId: t.idOf('user', 'userAccountId', {
    nullable: true,
    description: 'The account that did it; null if the actor was not a member.',
  }),
  actor: t.reference(Member, 'userAccountId', {
    by: 'userAccountId',
    nullable: true,
    description: 'The member who did it; null if the actor was not a member.',
  }),
  accessTokenId: t.idOf('token', 'tokenId', {
    nullable: true,
    description: 'The id of the access token that was used; null if there was none.',
  }),
  address: t.exposeString('address', {
    nullable: true,
    description: 'The network address of the client, or the name of the machine that ran the command.',
  }),
  requestId: t.exposeString('requestId', {
    nullable: true,
    description: 'The id of the request, as it is in the log.',
  }),
  subjectKind: t.exposeString('subjectKind', {
    description: 'The kind of object that was acted on, such as `access token` or `member`.',
  }),
  subjectId: t.exposeString('subjectId', {
    nullable: true,
    description: 'The id of the object that was acted on; null if it has only a name.',
  }),
  subjectName: t.exposeString('subjectName', { description: 'The name that the object had at that time.' }),
  changes: t.computed({
    type: [AuditChange],
    columns: ['changes'],
    compute: ({ changes }) => changes,
    description: 'The values that were set, at most 10. Secrets are never included.',
  }),
}));
