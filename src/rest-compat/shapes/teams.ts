import { limits } from '../../schema/builder/limits.ts';
import type { TeamFieldsFragment, TeamQuery } from '../operations.generated.ts';
import { boolean, id, integer, name, type Shape, shape, type ShapeFields, text, url } from '../shape.ts';

const teamFields: ShapeFields<TeamFieldsFragment> = {
  id: id('team', (team) => team.id),
  workspaceId: id('workspace', (team) => team.workspaceId),
  name: text(limits.name, (team) => team.name),
  code: text(limits.teamCode, (team) => team.code),
  slug: text(limits.slug, (team) => team.slug),
  description: text(limits.description, (team) => team.description),
  iconCss: text(limits.iconCss, (team) => team.iconCss),
  color: text(limits.color, (team) => team.color),
  state: name('TeamState', (team) => team.state),
  leadUserAccountId: id('user', (team) => team.leadUserAccountId ?? ''),
  leadDisplayName: text(limits.name, (team) => team.lead?.displayName ?? ''),
  leadAvatarUrl: url((team) => team.lead?.avatarUrl ?? ''),
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
