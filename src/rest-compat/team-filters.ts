import { many } from './params.ts';
import { id, keyOf, type Violation } from './values.ts';

/** The parameters that filter a list by team. An unknown team is a violation and does not result in an empty list. */
export function teamFilters(plural: string) {
  return {
    team_code: keyOf('team', `${plural} of the team with this code, in upper or lower case.`),
    team_id: many(id('team', `${plural} of this team.`)),
  };
}

interface TeamFilterValues {
  readonly team_code: string | undefined;
  readonly team_id: readonly string[] | undefined;
}

/** The variables for the field `unknownTeams`, which the operation reads in addition to the list. */
export function teamVariables({ team_code: code, team_id: ids }: TeamFilterValues): {
  teamCodes: string[];
  teamIds: string[];
} {
  return { teamCodes: code === undefined ? [] : [code], teamIds: [...new Set(ids)] };
}

/** The names in REST of the arguments of `unknownTeams`. */
export const teamNames = { codes: 'team_code', ids: 'team_id' } as const;

/** The violations of parameters that name an unknown team. */
export function unknownTeamViolations(
  { unknownTeams }: { readonly unknownTeams: readonly string[] },
  { team_code: code, team_id: ids = [] }: TeamFilterValues,
): Violation[] {
  const unknown = new Set(unknownTeams);
  const message = 'names no team of the workspace';
  return [
    ...(code !== undefined && unknown.has(code) ? [{ field: 'team_code', message }] : []),
    ...(ids.some((teamId) => unknown.has(teamId)) ? [{ field: 'team_id', message }] : []),
  ];
}
