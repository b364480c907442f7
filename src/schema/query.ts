import { reachableTokens } from '../resolvers/access-tokens.ts';
import { mayReadAudit } from '../resolvers/audit.ts';
import { type Context, signedIn } from '../resolvers/context.ts';
import { type ConnectionArguments, resolveConnection } from '../resolvers/connections.ts';
import { raise } from '../resolvers/errors.ts';
import { byId, issueNamed, projectNamed, teamNamed } from '../resolvers/keys.ts';
import { unknownTeams } from '../resolvers/issues/team-references.ts';
import { AccessToken } from './access-tokens.ts';
import { AuditEntry } from './audit.ts';
import { builder } from './builder/builder.ts';
import { allCodeTables, CodeTable } from './codes.ts';
import { Health, Readiness } from './health.ts';
import { Issue } from './issues.ts';
import { filterScopes, type ListArgumentBuilder, listArguments, rowsOfPage } from './builder/lists.ts';
import { Member } from './members.ts';
import { naming } from './builder/naming.ts';
import { Project } from './projects.ts';
import { Team } from './teams.ts';
import { Viewer } from './viewer.ts';
import { Workspace } from './workspaces.ts';

builder.queryType({
  description: 'What can be read. A token reads its own workspace alone.',
  fields: (t) => ({
    viewer: t.source({
      type: Viewer,
      scope: 'token',
      description: 'Who is asking.',
      load: (ctx) => signedIn(ctx).principal,
    }),
    workspace: t.source({
      type: Workspace.ref,
      scope: 'token',
      description: 'The workspace of the token.',
      load: (ctx) => {
        const { loaders, principal } = signedIn(ctx);
        return loaders.byKey('workspace', 'id', Workspace.where).load(principal.workspaceId);
      },
    }),
    issue: t.byKey(Issue, {
      argument: 'key',
      argumentDescription: 'The key of the issue, in any case (`ENG-42`); its id is taken too.',
      scope: 'issues:read',
      description: 'An issue by its key; null when there is none.',
      lookup: issueNamed,
    }),
    issues: t.all(Issue, { description: 'The issues of the workspace, newest first when nothing is said.' }),
    team: t.byKey(Team, {
      argument: 'code',
      argumentDescription: 'The code of the team, in any case; its id is taken too.',
      scope: 'teams:read',
      description: 'A team by its code; null when there is none.',
      lookup: teamNamed,
    }),
    teams: t.all(Team, { description: 'The teams of the workspace, by name when nothing is said.' }),
    unknownTeams: t.source({
      type: ['String'],
      scope: ['teams:read', 'projects:read', 'members:read', 'issues:read'],
      description:
        'Those of the codes and ids, at most 250 together, that name no team: to check a filter by team, which would let nothing through.',
      args: {
        codes: t.arg.stringList({
          extensions: naming('key', 'team'),
          description: 'Codes of teams, in any case.',
        }),
        ids: t.arg.idList({ extensions: naming('id', 'team'), description: 'Ids of teams (`team_…`).' }),
      },
      load: unknownTeams,
    }),
    project: t.byKey(Project, {
      argument: 'key',
      argumentDescription: 'The key of the project, in any case; its id is taken too.',
      scope: 'projects:read',
      description: 'A project by its key; null when there is none.',
      lookup: projectNamed,
    }),
    projects: t.all(Project, { description: 'The projects of the workspace, by name when nothing is said.' }),
    member: t.byKey(Member, {
      argument: 'id',
      argumentDescription: 'The id of the member (`member_…`).',
      scope: 'members:read',
      description: 'A member by id; null when there is none.',
      lookup: (id) => byId('member', id),
    }),
    members: t.all(Member, {
      description: 'The members of the workspace, by display name when nothing is said.',
    }),
    accessTokens: t.source({
      type: AccessToken.connection(),
      scope: 'token',
      args: listArguments(t as unknown as ListArgumentBuilder, AccessToken),
      extensions: { rows: rowsOfPage(AccessToken.list()) },
      description:
        'The access tokens that the token reaches: itself and the tokens made with it; with `workspace:admin` all tokens of its member, and for owners and admins all tokens of the workspace.',
      load: accessTokens,
    }),
    auditEntries: t.source({
      type: AuditEntry.connection(),
      scope: 'workspace:admin',
      args: listArguments(t as unknown as ListArgumentBuilder, AuditEntry),
      extensions: { rows: rowsOfPage(AuditEntry.list()), scopeOfArguments: filterScopes(AuditEntry) },
      description: 'What was done to tokens, roles and the workspace, newest first. For owners and admins.',
      load: auditEntries,
    }),
    codes: t.source({
      type: [CodeTable],
      scope: 'public',
      extensions: { rows: () => allCodeTables.length },
      description: 'The closed sets of values: the code tables, and the codes of errors as `errorCode`.',
      load: () => allCodeTables,
    }),
    health: t.source({
      type: Health,
      scope: 'public',
      description: 'Does the process answer: what GET /health maps onto.',
      load: () => ({ status: 'ok' }),
    }),
    readiness: t.source({
      type: Readiness,
      scope: 'public',
      description: 'Does the data store answer: what GET /readyz maps onto.',
      load: async (ctx) => {
        await ctx.ping();
        return { status: 'ok' };
      },
    }),
  }),
});

function auditEntries(ctx: Context, args: ConnectionArguments) {
  if (!mayReadAudit(signedIn(ctx))) raise('forbidden', 'Only owners and admins read the audit.');
  return resolveConnection(ctx, AuditEntry.list(), { key: undefined }, args);
}

function accessTokens(ctx: Context, args: ConnectionArguments) {
  const { principal } = signedIn(ctx);
  const list = AccessToken.list();
  // Part of the source, not of the filter: cursors are bound to filters, and must survive a change of role.
  const where = { all: [list.source.where, reachableTokens(principal)] };
  return resolveConnection(ctx, { ...list, source: { ...list.source, where } }, { key: undefined }, args);
}
