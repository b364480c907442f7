import { type Entity, entity } from './builder/entity.ts';
import { via } from './builder/references.ts';
import { Member } from './members.ts';

export const RoleAssignment: Entity<'issueRoleAssignment'> = entity('RoleAssignment', {
  table: 'issueRoleAssignment',
  singular: 'role assignment',
  plural: 'role assignments',
  description: 'A role that a member has in an issue, such as reviewer.',
  scope: ['issues:read', 'issues:write'],
});

RoleAssignment.implement((t) => ({
  role: t.exposeString('role', { description: 'The name of the role, 1 to 50 characters.' }),
  userAccountId: t.idOf('user', 'userAccountId', { description: 'The account that has the role.' }),
  displayName: t.computed({
    type: 'String',
    columns: [],
    references: { member: via(Member, 'userAccountId', ['displayName'], { by: 'userAccountId' }) },
    compute: (_row, { member }) => member?.displayName ?? '',
    description: 'The display name of the member.',
  }),
  member: t.reference(Member, 'userAccountId', {
    by: 'userAccountId',
    description: 'The member who has the role.',
  }),
}));
