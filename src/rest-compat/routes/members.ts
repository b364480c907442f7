import { anyOf, equals } from '../comparators.ts';
import { namesOf } from '../enums.ts';
import {
  MemberDocument,
  type MemberFilter,
  type MemberOrderField,
  type MemberRole,
  MembersDocument,
  type MemberStatus,
} from '../operations.generated.ts';
import { direction, many, page, pathId, sortBy } from '../params.ts';
import { item, list } from '../replies.ts';
import { route } from '../route.ts';
import { member } from '../shapes/members.ts';
import { teamFilters, teamNames, teamVariables, unknownTeamViolations } from '../team-filters.ts';
import { oneOf, text } from '../values.ts';

/** GET /v1/members */
export const members = route({
  method: 'GET',
  path: '/v1/members',
  scope: 'members:read',
  summary: 'Lists the members of the workspace.',
  parameters: {
    ...teamFilters('Members'),
    role: many(oneOf(namesOf<MemberRole>('MemberRole'), 'Members with this role.')),
    status: many(oneOf(namesOf<MemberStatus>('MemberStatus'), 'Members with this status.')),
    query: text(
      'Members whose display name or e-mail address contains this text, ignoring case and accents.',
    ),
    ...page,
    sort: sortBy<MemberOrderField>('display_name', {
      display_name: 'DISPLAY_NAME',
      role: 'ROLE',
      status: 'STATUS',
    }),
    direction,
  },
  operation: MembersDocument,
  variables: (p) => ({
    first: p.page_size,
    after: p.cursor,
    filter: {
      role: anyOf(p.role),
      status: anyOf(p.status),
      and: teamConditions(p.team_code, p.team_id),
      or: p.query
        ? [{ displayName: { contains: p.query } }, { emailAddress: { contains: p.query } }]
        : undefined,
    },
    orderBy: { field: p.sort, direction: p.direction },
    ...teamVariables(p),
  }),
  check: unknownTeamViolations,
  pick: 'members',
  reply: list(member),
  restNames: teamNames,
});

/** GET /v1/members/{memberId} */
export const memberById = route({
  method: 'GET',
  path: '/v1/members/{memberId}',
  scope: 'members:read',
  summary: 'Reads a member.',
  parameters: { memberId: pathId('member', 'member', 'The id of the member.') },
  operation: MemberDocument,
  variables: (p) => ({ id: p.memberId }),
  pick: 'member',
  reply: item(member),
});

/** Each parameter is a condition of its own, because a member may be in several teams. */
function teamConditions(code: string | undefined, ids: string[] | undefined): MemberFilter[] {
  return [
    ...(code === undefined ? [] : [{ teams: { some: { code: equals(code) } } }]),
    ...(ids ? [{ teams: { some: { id: anyOf(ids) } } }] : []),
  ];
}
