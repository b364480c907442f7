import type { MemberFieldsFragment } from '../operations.generated.ts';
import { code, type Shape, shape, text, texts } from '../shape.ts';

/** The specification's Member. */
export const member: Shape<MemberFieldsFragment> = shape('Member', {
  id: text((member) => member.id),
  userAccountId: text((member) => member.userAccountId),
  displayName: text((member) => member.displayName),
  avatarUrl: text((member) => member.avatarUrl ?? ''),
  emailAddress: text((member) => member.emailAddress ?? ''),
  principalKind: code('PrincipalKind', (member) => member.principalKind),
  role: code('MemberRole', (member) => member.role),
  status: code('MemberStatus', (member) => member.status),
  teamIds: texts((member) => member.teamIds),
  teamNames: texts((member) => member.teamNames),
});
