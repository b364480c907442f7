import { limits } from '../../model/limits.ts';
import type { TeamFieldsFragment, TeamQuery } from '../operations.generated.ts';
import { boolean, id, integer, name, type Shape, shape, text, url } from '../shape.ts';

const teamFields = {
  id: id('team', 'id'),
  workspaceId: id('workspace', 'workspaceId'),
  name: text(limits.name, 'name'),
  code: text(limits.teamCode, 'code'),
  slug: text(limits.slug, 'slug'),
  description: text(limits.description, 'description'),
  iconCss: text(limits.iconCss, 'iconCss'),
  color: text(limits.color, 'color'),
  state: name('TeamState', 'state'),
  leadUserAccountId: id('user', 'leadUserAccountId', { ifNull: '' }),
  leadDisplayName: text(limits.name, 'lead.displayName', { ifNull: '' }),
  leadAvatarUrl: url('lead.avatarUrl', { ifNull: '' }),
  memberCount: integer('memberCount'),
  activeProjectCount: integer('activeProjectCount'),
  deliveriesEnabled: boolean('deliveriesEnabled'),
};

/** The specification's Team, as lists show it. */
export const team: Shape<TeamFieldsFragment> = shape('Team', teamFields);

/** The specification's Team detail. */
export const teamDetail: Shape<NonNullable<TeamQuery['team']>> = shape('TeamDetail', {
  ...teamFields,
  nextIssueNumber: integer('nextIssueNumber'),
});
