import type { TeamFieldsFragment, TeamQuery } from '../operations.generated.ts';
import { boolean, integer, name, type Shape, shape, type ShapeFields, text } from '../shape.ts';

const teamFields: ShapeFields<TeamFieldsFragment> = {
  id: text((team) => team.id),
  workspaceId: text((team) => team.workspaceId),
  name: text((team) => team.name),
  code: text((team) => team.code),
  slug: text((team) => team.slug),
  description: text((team) => team.description),
  iconCss: text((team) => team.iconCss),
  color: text((team) => team.color),
  state: name('TeamState', (team) => team.state),
  leadUserAccountId: text((team) => team.leadUserAccountId ?? ''),
  leadDisplayName: text((team) => team.lead?.displayName ?? ''),
  leadAvatarUrl: text((team) => team.lead?.avatarUrl ?? ''),
  memberCount: integer((team) => team.memberCount),
  activeProjectCount: integer((team) => team.activeProjectCount),
  deliveriesEnabled: boolean((team) => team.deliveriesEnabled),
};

/** The specification's Team, as lists show it. */
export const team: Shape<TeamFieldsFragment> = shape('Team', teamFields);

/** The specification's Team detail. */
export const teamDetail: Shape<NonNullable<TeamQuery['team']>> = shape('TeamDetail', {
  ...teamFields,
  nextIssueNumber: integer((team) => team.nextIssueNumber),
});
