import { limits } from '../model/limits.ts';
import { reachableTokens } from '../resolvers/access/access-tokens.ts';
import { type Context, requireSignedIn } from '../resolvers/context.ts';
import { type ConnectionArguments, resolveConnection } from '../resolvers/connections.ts';
import { byId, issueNamed, projectNamed, teamNamed } from '../resolvers/keys.ts';
import { unknownTeams } from '../resolvers/issues/team-references.ts';
import { AccessToken } from './access-tokens.ts';
import { AuditEntry } from './audit.ts';
import { builder } from './builder/builder.ts';
import { allCodeTables, CodeTable } from './codes.ts';
import { Health, Readiness } from './health.ts';
import { Issue } from './issues.ts';
import { type ListArgumentBuilder, listArguments, needsOfFilter, rowsOfPage } from './builder/lists.ts';
import { Member } from './members.ts';
import { naming } from './builder/naming.ts';
import { coveredByPosition } from './builder/covered-by-position.ts';
import { Project } from './projects.ts';
import { Team } from './teams.ts';
import { Viewer } from './viewer.ts';
import { Workspace } from './workspaces.ts';

builder.queryType({
  description: 'All queries. A token reads only its own workspace.',
  fields: (t) => ({
    viewer: t.source({
      type: Viewer,
      scope: 'token',
      description: 'The member and the access token that make the request.',
      load: (ctx) => requireSignedIn(ctx).principal,
    }),
    workspace: t.source({
      type: Workspace.ref,
      scope: 'token',
      description: 'The workspace of the token.',
      load: (ctx) => {
        const { loaders, principal } = requireSignedIn(ctx);
        return loaders.byKey('workspace', 'id', Workspace.where).load(principal.workspaceId);
      },
    }),
    issue: t.byKey(Issue, {
      argument: 'key',
      argumentDescription: 'The key of the issue (`ENG-42`), in upper or lower case, or its id.',
      scope: 'issues:read',
      description: 'An issue by its key or id; null if there is none.',
      lookup: issueNamed,
    }),
    issues: t.all(Issue, { description: 'The issues of the workspace, by default newest first.' }),
    team: t.byKey(Team, {
      argument: 'code',
      argumentDescription: 'The code of the team, in upper or lower case, or its id.',
      scope: 'teams:read',
      description: 'A team by its code or id; null if there is none.',
      lookup: teamNamed,
    }),
    teams: t.all(Team, { description: 'The teams of the workspace, by default ordered by name.' }),
    unknownTeams: t.source({
      type: ['String'],
      scope: ['teams:read', 'projects:read', 'members:read', 'issues:read'],
      description: `The given codes and ids (at most ${limits.names} together) that belong to no team. A filter by such a team would match nothing, so this finds mistakes in a filter.`,
      args: {
        codes: t.arg.stringList({
          extensions: naming('key', 'team'),
          description: 'Codes of teams, in upper or lower case.',
        }),
        ids: t.arg.idList({ extensions: naming('id', 'team'), description: 'Ids of teams (`team_…`).' }),
      },
      // It reads the teams.
      extensions: coveredByPosition,
      load: unknownTeams,
    }),
    project: t.byKey(Project, {
      argument: 'key',
      argumentDescription: 'The key of the project, in upper or lower case, or its id.',
      scope: 'projects:read',
      description: 'A project by its key or id; null if there is none.',
      lookup: projectNamed,
    }),
    projects: t.all(Project, { description: 'The projects of the workspace, by default ordered by name.' }),
    member: t.byKey(Member, {
      argument: 'id',
      argumentDescription: 'The id of the member (`member_…`).',
      scope: 'members:read',
      description: 'A member by id; null if there is none.',
      lookup: (id) => byId('member', id),
    }),
    members: t.all(Member, {
      description: 'The members of the workspace, by default ordered by display name.',
    }),
    accessTokens: t.source({
      type: AccessToken.connection(),
      scope: 'token',
      args: listArguments(t as unknown as ListArgumentBuilder, AccessToken),
      extensions: { needsOfArguments: needsOfFilter(AccessToken), rows: rowsOfPage(AccessToken.list()) },
      description:
        'The access tokens that the current token may see: itself and the tokens that were created with it. With `workspace:admin` these are all tokens of its member, and for owners and admins all tokens of the workspace.',
      load: accessTokens,
    }),
    auditEntries: t.all(AuditEntry, {
      description:
        'The audit log: what was done to access tokens, roles and the workspace, newest first. Only owners and admins may read it.',
    }),
    codes: t.source({
      type: [CodeTable],
      scope: 'public',
      extensions: { rows: () => allCodeTables.length },
      description: 'All closed sets of values: the code tables, and the error codes as `errorCode`.',
      load: () => allCodeTables,
    }),
    health: t.source({
      type: Health,
      scope: 'public',
      description: 'Whether the process answers. `GET /health` runs this query.',
      load: () => ({ status: 'ok' }),
    }),
    readiness: t.source({
      type: Readiness,
      scope: 'public',
      description: 'Whether the database answers. `GET /readyz` runs this query.',
      load: async (ctx) => {
        await ctx.ping();
        return { status: 'ok' };
      },
    }),
  }),
});

function accessTokens(ctx: Context, args: ConnectionArguments) {
  const { principal } = requireSignedIn(ctx);
  const list = AccessToken.list();
  // The condition belongs to the source instead of the filter: a cursor is bound to its filter, and must stay valid
  // when the member's role changes.
  const where = { all: [list.source.where, reachableTokens(principal)] };
  return resolveConnection(ctx, { ...list, source: { ...list.source, where } }, { key: undefined }, args);
}
