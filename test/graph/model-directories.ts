import { fold } from '../../src/model/fold.ts';
import { type Thing, thing, type Things } from './model.ts';
import { codeName, compareBy, idOf, utc } from './values.ts';

/** The things of the directories, from their rows. */
export function directoryThings(things: Things): Thing[] {
  const { rows } = things;
  return [
    ...rows.workspace.map((row) => workspace(things, row)),
    ...rows.member.map((row) => member(things, row)),
    ...rows.team.map((row) => team(things, row)),
    ...rows.status.map((row) => status(things, row)),
    ...rows.label.map((row) => label(things, row)),
    ...rows.delivery.map((row) => delivery(things, row)),
    ...rows.repository.map((row) => repository(things, row)),
    ...rows.accessToken.map((row) => accessToken(things, row)),
    ...rows.auditEntry.map((row) => auditEntry(things, row)),
  ];
}

type Rows = Things['rows'];

function workspace(things: Things, row: Rows['workspace'][number]): Thing {
  return thing(
    'Workspace',
    {
      id: idOf('workspace', row.id),
      name: row.name,
      createdUtc: utc(row.createdUtc),
      changeCursor: 'c1-0-0',
    },
    {
      teams: () => things.all('Team'),
      projects: () => things.all('Project'),
      members: () => things.all('Member'),
      issues: () => things.all('Issue'),
      labels: () => things.all('Label'),
      projectStatuses: () => things.all('ProjectStatus'),
    },
  );
}

function member(things: Things, row: Rows['member'][number]): Thing {
  const userAccountId = idOf('user', row.userAccountId);
  const teams = () =>
    things
      .all('Team')
      .filter((team) => (team.members as Thing[]).some((each) => each.userAccountId === userAccountId));
  return thing(
    'Member',
    {
      id: idOf('member', row.id),
      userAccountId,
      displayName: row.displayName,
      avatarUrl: row.avatarUrl,
      principalKind: codeName('principalKind', row.principalKind),
      emailAddress: row.emailAddress,
      role: codeName('memberRole', row.role),
      status: codeName('memberStatus', row.status),
      createdUtc: utc(row.createdUtc),
    },
    {
      teams,
      teamIds: () => byName(teams()).map(({ id }) => id),
      teamNames: () => byName(teams()).map(({ name }) => name),
      assignedIssues: () =>
        things
          .all('Issue')
          .filter((issue) => (issue.assigneeUserAccountIds as string[]).includes(userAccountId)),
      reportedIssues: () => things.where('Issue', 'reporterUserAccountId', userAccountId),
      ledProjects: () => things.where('Project', 'leadUserAccountId', userAccountId),
    },
  );
}

function team(things: Things, row: Rows['team'][number]): Thing {
  const id = idOf('team', row.id);
  const leadUserAccountId = idOf('user', row.leadUserAccountId);
  const counter = things.rows.teamCounter.find(({ teamId }) => teamId === row.id);
  return thing(
    'Team',
    {
      id,
      workspaceId: idOf('workspace', row.workspaceId),
      code: row.code,
      name: row.name,
      iconCss: row.iconCss,
      color: row.color,
      slug: row.slug,
      description: row.description,
      state: codeName('teamState', row.state),
      leadUserAccountId,
      memberCount: row.memberCount,
      activeProjectCount: row.activeProjectCount,
      deliveriesEnabled: row.deliveriesEnabled,
      nextIssueNumber: counter?.nextIssueNumber ?? 1,
      createdUtc: utc(row.createdUtc),
      updatedUtc: utc(row.updatedUtc),
    },
    {
      lead: () => leadUserAccountId && things.member(leadUserAccountId),
      statuses: () =>
        things.where('IssueStatus', 'teamId', id).toSorted(compareBy((each) => Number(each.position))),
      members: () =>
        things.rows.teamMember
          .filter(({ teamId }) => teamId === row.id)
          .map(({ userAccountId }) => things.member(idOf('user', userAccountId))),
      issues: () => things.where('Issue', 'teamId', id),
      projects: () => things.where('Project', 'teamId', id),
      labels: () => things.where('Label', 'teamId', id),
      deliveries: () => things.where('Delivery', 'teamId', id),
      repositories: () => things.where('RepositoryContext', 'teamId', id),
      defaultRepository: () =>
        things.where('RepositoryContext', 'teamId', id).find((each) => each.isDefaultForAgents) ?? null,
    },
  );
}

function status(things: Things, row: Rows['status'][number]): Thing {
  const { name, description, color, position, isInitial, isTerminal } = row;
  const teamId = idOf('team', row.teamId);
  const category = codeName('statusCategory', row.category);
  const fields = {
    id: idOf('status', row.id),
    name,
    description,
    color,
    category,
    position,
    isInitial,
    isTerminal,
    teamId,
  };
  return thing('IssueStatus', fields, { team: () => things.find('Team', teamId) });
}

function label(things: Things, row: Rows['label'][number]): Thing {
  const { name, description, color, isGroup } = row;
  const teamId = idOf('team', row.teamId);
  const groupId = idOf('label', row.groupId);
  return thing(
    'Label',
    { id: idOf('label', row.id), name, description, color, isGroup, teamId, groupId },
    {
      team: () => things.find('Team', teamId),
      group: () => things.find('Label', groupId),
      groupName: () => things.find('Label', groupId)?.name ?? null,
    },
  );
}

function delivery(things: Things, row: Rows['delivery'][number]): Thing {
  const id = idOf('delivery', row.id);
  const teamId = idOf('team', row.teamId);
  const today = new Date(things.viewer.nowMs).toISOString().slice(0, 10);
  const slots = things.rows.deliveryCount.filter(({ deliveryId }) => deliveryId === row.id);
  const sum = (key: 'issueCount' | 'closedIssueCount' | 'estimatedScope' | 'closedEstimate') =>
    slots.reduce((total, slot) => total + slot[key], 0);
  return thing(
    'Delivery',
    {
      id,
      teamId,
      number: row.number,
      name: row.name,
      description: row.description,
      startsOn: row.startsOn,
      endsOn: row.endsOn,
      state: codeName('deliveryState', row.state),
      issueCount: sum('issueCount'),
      closedIssueCount: sum('closedIssueCount'),
      estimatedScope: sum('estimatedScope'),
      closedEstimate: sum('closedEstimate'),
      isCurrent: row.startsOn <= today && today <= row.endsOn,
      isUpcoming: today < row.startsOn,
    },
    { team: () => things.find('Team', teamId), issues: () => things.where('Issue', 'deliveryId', id) },
  );
}

function repository(things: Things, row: Rows['repository'][number]): Thing {
  const teamId = idOf('team', row.teamId);
  return thing(
    'RepositoryContext',
    {
      id: idOf('repo', row.id),
      teamId,
      workspaceScmConnectionId: row.workspaceScmConnectionId,
      provider: codeName('provider', row.provider),
      externalProjectId: row.externalProjectId,
      externalProjectName: row.externalProjectName,
      externalRepositoryId: row.externalRepositoryId,
      externalRepositoryName: row.externalRepositoryName,
      externalRepositoryFullName: row.externalRepositoryFullName,
      externalRepositoryUrl: row.externalRepositoryUrl,
      defaultBranch: row.defaultBranch,
      isDefaultForAgents: row.isDefaultForAgents,
    },
    { team: () => things.find('Team', teamId) },
  );
}

function accessToken(things: Things, row: Rows['accessToken'][number]): Thing {
  const { name, scopes } = row;
  const userAccountId = idOf('user', row.userAccountId);
  const times = {
    createdUtc: utc(row.createdUtc),
    expiresUtc: utc(row.expiresUtc),
    lastUsedUtc: utc(row.lastUsedUtc),
    revokedUtc: utc(row.revokedUtc),
  };
  return thing(
    'AccessToken',
    { id: idOf('token', row.id), name, scopes, userAccountId, ...times },
    {
      member: () => things.member(userAccountId),
    },
  );
}

function auditEntry(things: Things, row: Rows['auditEntry'][number]): Thing {
  const { act, actorName, address, requestId, subjectKind, subjectId, subjectName, changes } = row;
  const actorUserAccountId = row.userAccountId && idOf('user', row.userAccountId);
  return thing(
    'AuditEntry',
    {
      id: idOf('audit', row.id),
      occurredUtc: utc(row.occurredUtc),
      actorKind: ['MEMBER', 'OPERATOR', 'SYSTEM'][row.actorKind - 1],
      actorUserAccountId,
      accessTokenId: row.tokenId && idOf('token', row.tokenId),
      act,
      actorName,
      address,
      requestId,
      subjectKind,
      subjectId,
      subjectName,
      changes,
    },
    { actor: () => (actorUserAccountId ? things.member(actorUserAccountId) : null) },
  );
}

function byName(each: readonly Thing[]): Thing[] {
  return each.toSorted(
    compareBy(
      ({ name }) => fold(String(name)),
      ({ id }) => String(id),
    ),
  );
}
