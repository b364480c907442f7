import { anyOf, equals } from '../comparators.ts';
import { namesOf } from '../enums.ts';
import { type TeamOrderField, type TeamState, TeamDocument, TeamsDocument } from '../operations.generated.ts';
import { direction, key, many, page, sortBy } from '../params.ts';
import { item, list } from '../replies.ts';
import { route } from '../route.ts';
import { team, teamDetail } from '../shapes/teams.ts';
import { boolean, id, oneOf, text } from '../values.ts';

/** The code of the team in a path. */
export const teamCode = key('team', 'The code of the team, in upper or lower case.');

/** GET /v1/teams */
export const teams = route({
  method: 'GET',
  path: '/v1/teams',
  scope: 'teams:read',
  summary: 'Lists the teams of the workspace.',
  parameters: {
    state: many(oneOf(namesOf<TeamState>('TeamState'), 'Teams in this state.')),
    lead_user_account_id: many(id('user', 'Teams that this account leads.')),
    deliveries_enabled: boolean('Whether the team plans in deliveries.'),
    query: text('Teams whose name, code or slug contains this text, ignoring case and accents.'),
    ...page,
    sort: sortBy<TeamOrderField>('name', {
      name: 'NAME',
      code: 'CODE',
      member_count: 'MEMBER_COUNT',
      active_project_count: 'ACTIVE_PROJECT_COUNT',
      state: 'STATE',
    }),
    direction,
  },
  operation: TeamsDocument,
  variables: (p) => ({
    first: p.page_size,
    after: p.cursor,
    filter: {
      state: anyOf(p.state),
      leadUserAccountId: anyOf(p.lead_user_account_id),
      deliveriesEnabled: equals(p.deliveries_enabled),
      or: p.query
        ? [{ name: { contains: p.query } }, { code: { contains: p.query } }, { slug: { contains: p.query } }]
        : undefined,
    },
    orderBy: { field: p.sort, direction: p.direction },
  }),
  pick: 'teams',
  reply: list(team),
});

/** GET /v1/teams/{teamCode} */
export const teamByCode = route({
  method: 'GET',
  path: '/v1/teams/{teamCode}',
  scope: 'teams:read',
  summary: 'Reads a team.',
  parameters: { teamCode },
  operation: TeamDocument,
  variables: (p) => ({ code: p.teamCode }),
  pick: 'team',
  reply: item(teamDetail, 'The team.'),
});
