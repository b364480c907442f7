import { fold } from '../../src/model/fold.ts';
import { type ModelObject, modelObject, type Model } from './model.ts';
import { codeName, compareBy, idOf, utc } from './values.ts';

/** Objects of the directories, from their rows. */
export function directoryObjects(model: Model): ModelObject[] {
  const { rows } = model;
  return [
    ...rows.workspace.map((row) => workspace(model, row)),
    ...rows.member.map((row) => member(model, row)),
    ...rows.team.map((row) => team(model, row)),
    ...rows.status.map((row) => status(model, row)),
    ...rows.label.map((row) => label(model, row)),
    ...rows.delivery.map((row) => delivery(model, row)),
    ...rows.repository.map((row) => repository(model, row)),
    ...rows.accessToken.map((row) => accessToken(model, row)),
    ...rows.auditEntry.map((row) => auditEntry(model, row)),
  ];
}

type Rows = Model['rows'];

function workspace(model: Model, row: Rows['workspace'][number]): ModelObject {
  return modelObject(
    'Workspace',
    {
      id: idOf('workspace', row.id),
      name: row.name,
      createdUtc: utc(row.createdUtc),
      changeCursor: 'c1-0-0',
    },
    {
      teams: () => model.all('Team'),
      projects: () => model.all('Project'),
      members: () => model.all('Member'),
      issues: () => model.all('Issue'),
      labels: () => model.all('Label'),
      projectStatuses: () => model.all('ProjectStatus'),
    },
  );
}

function member(model: Model, row: Rows['member'][number]): ModelObject {
  const userAccountId = idOf('user', row.userAccountId);
  const teams = () =>
    model
      .all('Team')
      .filter((team) => (team.members as ModelObject[]).some((each) => each.userAccountId === userAccountId));
  return modelObject(
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
        model
          .all('Issue')
          .filter((issue) => (issue.assigneeUserAccountIds as string[]).includes(userAccountId)),
      reportedIssues: () => model.where('Issue', 'reporterUserAccountId', userAccountId),
      ledProjects: () => model.where('Project', 'leadUserAccountId', userAccountId),
    },
  );
}

function team(model: Model, row: Rows['team'][number]): ModelObject {
  const id = idOf('team', row.id);
  const leadUserAccountId = idOf('user', row.leadUserAccountId);
  const counter = model.rows.teamCounter.find(({ teamId }) => teamId === row.id);
  return modelObject(
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
      lead: () => leadUserAccountId && model.member(leadUserAccountId),
      statuses: () =>
        model.where('IssueStatus', 'teamId', id).toSorted(compareBy((each) => Number(each.position))),
      members: () =>
        model.rows.teamMember
          .filter(({ teamId }) => teamId === row.id)
          .map(({ userAccountId }) => model.member(idOf('user', userAccountId))),
      issues: () => model.where('Issue', 'teamId', id),
      projects: () => model.where('Project', 'teamId', id),
      labels: () => model.where('Label', 'teamId', id),
      deliveries: () => model.where('Delivery', 'teamId', id),
      repositories: () => model.where('RepositoryContext', 'teamId', id),
      defaultRepository: () =>
        model.where('RepositoryContext', 'teamId', id).find((each) => each.isDefaultForAgents) ?? null,
    },
  );
}

function status(model: Model, row: Rows['status'][number]): ModelObject {
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
  return modelObject('IssueStatus', fields, { team: () => model.find('Team', teamId) });
}

function label(model: Model, row: Rows['label'][number]): ModelObject {
  const { name, description, color, isGroup } = row;
  const teamId = idOf('team', row.teamId);
  const groupId = idOf('label', row.groupId);
  return modelObject(
    'Label',
    { id: idOf('label', row.id), name, description, color, isGroup, teamId, groupId },
    {
      team: () => model.find('Team', teamId),
      group: () => model.find('Label', groupId),
      groupName: () => model.find('Label', groupId)?.name ?? null,
    },
  );
}

function delivery(model: Model, row: Rows['delivery'][number]): ModelObject {
  const id = idOf('delivery', row.id);
  const teamId = idOf('team', row.teamId);
  const today = new Date(model.viewer.nowMs).toISOString().slice(0, 10);
  const slots = model.rows.deliveryCount.filter(({ deliveryId }) => deliveryId === row.id);
  const sum = (key: 'issueCount' | 'closedIssueCount' | 'estimatedScope' | 'closedEstimate') =>
    slots.reduce((total, slot) => total + slot[key], 0);
  return modelObject(
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
    { team: () => model.find('Team', teamId), issues: () => model.where('Issue', 'deliveryId', id) },
  );
}

function repository(model: Model, row: Rows['repository'][number]): ModelObject {
  const teamId = idOf('team', row.teamId);
  return modelObject(
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
    { team: () => model.find('Team', teamId) },
  );
}

function accessToken(model: Model, row: Rows['accessToken'][number]): ModelObject {
  const { name, scopes } = row;
  const userAccountId = idOf('user', row.userAccountId);
  const times = {
    createdUtc: utc(row.createdUtc),
    expiresUtc: utc(row.expiresUtc),
    lastUsedUtc: utc(row.lastUsedUtc),
    revokedUtc: utc(row.revokedUtc),
  };
  return modelObject(
    'AccessToken',
    { id: idOf('token', row.id), name, scopes, userAccountId, ...times },
    {
      member: () => model.member(userAccountId),
    },
  );
}

function auditEntry(model: Model, row: Rows['auditEntry'][number]): ModelObject {
  const { act, actorName, address, requestId, subjectKind, subjectId, subjectName, changes } = row;
  const actorUserAccountId = row.userAccountId && idOf('user', row.userAccountId);
  return modelObject(
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
    { actor: () => (actorUserAccountId ? model.member(actorUserAccountId) : null) },
  );
}

function byName(each: readonly ModelObject[]): ModelObject[] {
  return each.toSorted(
    compareBy(
      ({ name }) => fold(String(name)),
      ({ id }) => String(id),
    ),
  );
}
