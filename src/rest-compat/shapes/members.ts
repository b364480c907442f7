import { limits } from '../../schema/builder/limits.ts';
import type { MemberFieldsFragment } from '../operations.generated.ts';
import { code, id, ids, type Shape, shape, text, texts, url } from '../shape.ts';

/** The specification's Member. */
export const member: Shape<MemberFieldsFragment> = shape('Member', {
  id: id('member', (member) => member.id),
  userAccountId: id('user', (member) => member.userAccountId),
  displayName: text(limits.name, (member) => member.displayName),
  avatarUrl: url((member) => member.avatarUrl ?? ''),
  emailAddress: text(limits.emailAddress, (member) => member.emailAddress ?? ''),
  principalKind: code('PrincipalKind', (member) => member.principalKind),
  role: code('MemberRole', (member) => member.role),
  status: code('MemberStatus', (member) => member.status),
  teamIds: ids('team', limits.teams, (member) => member.teamIds),
  teamNames: texts({ maxItems: limits.teams, maxLength: limits.name }, (member) => member.teamNames),
});
