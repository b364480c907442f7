import { limits } from '../../model/limits.ts';
import type { MemberFieldsFragment } from '../operations.generated.ts';
import { code, id, ids, type Shape, shape, text, texts, url } from '../shape.ts';

/** The specification's Member. */
export const member: Shape<MemberFieldsFragment> = shape('Member', {
  id: id('member', 'id'),
  userAccountId: id('user', 'userAccountId'),
  displayName: text(limits.name, 'displayName'),
  avatarUrl: url('avatarUrl', { ifNull: '' }),
  emailAddress: text(limits.emailAddress, 'emailAddress', { ifNull: '' }),
  principalKind: code('PrincipalKind', 'principalKind'),
  role: code('MemberRole', 'role'),
  status: code('MemberStatus', 'status'),
  teamIds: ids('team', limits.teams, 'teamIds'),
  teamNames: texts({ maxItems: limits.teams, maxLength: limits.name }, 'teamNames'),
});
