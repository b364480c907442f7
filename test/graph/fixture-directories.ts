import type { Insertable } from 'kysely';
import type { Tables } from '../../src/db/tables/tables.ts';
import {
  memberRole,
  memberStatus,
  principalKind,
  projectState,
  statusCategory,
  teamState,
} from '../../src/model/codes.ts';
import { fold } from '../../src/model/fold.ts';
import { type Fixture, isoDate, cyclicAt } from './fixture.ts';

const dayMs = 86_400_000;

/** Members whose names are equal, differ only by accents, or sort differently by UTF-16 unit than by code point. */
const people = [
  { name: 'Olga Owner', role: 'owner', status: 'active', kind: 'user', email: 'olga@fixture.example' },
  { name: 'Zoë', role: 'admin', status: 'active', kind: 'user', email: 'Zoe@Fixture.example' },
  { name: 'Wei Zhang', role: 'member', status: 'active', kind: 'user', email: 'wei@fixture.example' },
  { name: 'Wei Zhang', role: 'member', status: 'invited', kind: 'user', email: null },
  { name: 'ZOE', role: 'guest', status: 'suspended', kind: 'user', email: 'zoe_2@fixture.example' },
  { name: 'Ångström 100%', role: 'member', status: 'removed', kind: 'user', email: null },
  { name: '🦉 Owl', role: 'member', status: 'active', kind: 'agent', email: null },
  { name: '\u{FFFD} Unknown', role: 'guest', status: 'active', kind: 'service', email: null },
] as const;

/** Fills the directories: members, teams, statuses, labels, deliveries, projects and repositories. */
export function addDirectories(fixture: Fixture, sharedAccountId?: string): void {
  addMembers(fixture, sharedAccountId);
  addTeams(fixture);
  addLabels(fixture);
  addDeliveries(fixture);
  addProjects(fixture);
  addRepositories(fixture);
}

function addMembers({ workspaceId, rows, uuid, nowMs }: Fixture, sharedAccountId: string | undefined): void {
  for (const [index, { name, role, status, kind, email }] of people.entries()) {
    const userAccountId = index === 2 && sharedAccountId ? sharedAccountId : uuid();
    rows.userAccount.push({ id: userAccountId });
    rows.member.push({
      workspaceId,
      id: uuid(),
      userAccountId,
      displayName: name,
      displayNameFold: fold(name),
      avatarUrl: index % 2 ? `https://fixture.example/${index}.png` : null,
      emailAddress: email,
      emailAddressFold: email && fold(email),
      principalKind: principalKind[kind],
      role: memberRole[role],
      status: memberStatus[status],
      createdUtc: new Date(nowMs - (100 - index) * dayMs),
    });
  }
  rows.agentInstallation.push({
    workspaceId,
    id: uuid(),
    applicationId: uuid(),
    agentUserAccountId: cyclicAt(rows.member, 6).userAccountId,
    isDefault: true,
  });
}

const teams = [
  { code: 'ENG', name: 'Ingénierie', state: 'active', lead: 0, members: [0, 1, 2, 3, 6] },
  { code: 'OPS', name: 'Operations_1', state: 'active', lead: 1, members: [1, 2] },
  { code: 'ZZZ', name: 'ingenierie', state: 'inactive', lead: undefined, members: [2, 4] },
  { code: 'B2B', name: 'Ärger & 50% more', state: 'archived', lead: 1, members: [] },
] as const;

function addTeams({ workspaceId, rows, uuid, nowMs }: Fixture): void {
  for (const [index, { code, name, state, lead, members }] of teams.entries()) {
    const id = uuid();
    rows.team.push({
      workspaceId,
      id,
      name,
      nameFold: fold(name),
      code,
      slug: `${code.toLowerCase()}-team`,
      description: index ? '' : 'Builds it.',
      iconCss: index ? '' : 'icon-gear',
      color: index % 2 ? '#aabbcc' : '',
      state: teamState[state],
      leadUserAccountId: lead === undefined ? null : cyclicAt(rows.member, lead).userAccountId,
      memberCount: members.length,
      activeProjectCount: index % 3,
      deliveriesEnabled: index < 2,
      createdUtc: new Date(nowMs - (90 - index) * dayMs),
    });
    rows.teamMember.push(
      ...members.map((member) => ({
        workspaceId,
        teamId: id,
        userAccountId: cyclicAt(rows.member, member).userAccountId,
      })),
    );
    rows.status.push(...statuses(workspaceId, id, uuid));
  }
}

function statuses(workspaceId: string, teamId: string, uuid: () => string): Insertable<Tables['status']>[] {
  const names = {
    backlog: 'Später',
    open: 'To do',
    active: 'Doing',
    completed: 'Done',
    canceled: 'Won’t do',
  } as const;
  return Object.entries(names).map(([category, name], position) => ({
    workspaceId,
    id: uuid(),
    teamId,
    name,
    nameFold: fold(name),
    description: position ? '' : 'Not yet.',
    color: '#123456',
    category: statusCategory[category as keyof typeof names],
    // Positions do not follow the categories, so that ranks differ from positions.
    position: (position * 3) % 5,
    isInitial: position === 1,
    isTerminal: position > 2,
  }));
}

function addLabels({ workspaceId, rows, uuid }: Fixture): void {
  const add = (name: string, more: Partial<Insertable<Tables['label']>> = {}) => {
    const id = uuid();
    rows.label.push({ workspaceId, id, name, nameFold: fold(name), color: '#ff0000', ...more });
    return id;
  };
  const groupId = add('Kind', { isGroup: true, description: 'What it is.' });
  add('Bug', { groupId });
  add('feature_1', { groupId });
  const [first, second] = rows.team;
  add('Bug', { teamId: first?.id ?? null });
  add('büg', { teamId: second?.id ?? null });
  add('100%', { teamId: first?.id ?? null });
}

function addDeliveries({ workspaceId, rows, uuid, nowMs }: Fixture): void {
  for (const [index, teamIndex] of [0, 1, 0, 0, 1].entries()) {
    const number = rows.delivery.filter(({ teamId }) => teamId === rows.team[teamIndex]?.id).length + 1;
    const startsMs = nowMs + (index - 2) * 10 * dayMs - 5 * dayMs;
    const id = uuid();
    rows.delivery.push({
      workspaceId,
      id,
      teamId: cyclicAt(rows.team, teamIndex).id,
      number,
      name: `Sprint ${number}`,
      nameFold: `sprint ${number}`,
      description: index ? '' : 'The first.',
      startsOn: isoDate(index === 3 ? nowMs - 5 * dayMs : startsMs),
      endsOn: isoDate(nowMs + (index - 2) * 10 * dayMs + 5 * dayMs),
      state: (index % 3) + 1,
    });
    for (const slot of [0, 7]) {
      const counts = {
        issueCount: 2,
        closedIssueCount: slot ? 1 : 0,
        estimatedScope: 5 + index,
        closedEstimate: slot,
      };
      if (index !== 4) rows.deliveryCount.push({ workspaceId, deliveryId: id, slot, ...counts });
    }
  }
}

const projects = [
  { key: 'ATLAS', name: 'Atlas', team: 0, status: 0, priority: 2, lead: 1, targetDays: 30 },
  { key: 'P-2', name: 'ätlas', team: 0, status: 1, priority: 0, lead: undefined, targetDays: undefined },
  { key: 'ZED', name: 'Zed 50%', team: 1, status: 1, priority: 1, lead: 2, targetDays: 30 },
  { key: 'OLD', name: 'Old_one', team: 2, status: 3, priority: 4, lead: 4, targetDays: -30 },
  { key: 'NONE', name: 'Nothing', team: 0, status: 4, priority: 2, lead: undefined, targetDays: undefined },
] as const;

function addProjects(fixture: Fixture): void {
  const { workspaceId, rows, uuid, nowMs } = fixture;
  for (const [index, state] of Object.values(projectState).entries()) {
    const name = `Project status ${index}`;
    rows.projectStatus.push({
      workspaceId,
      id: uuid(),
      name,
      nameFold: fold(name),
      description: '',
      color: '#00ff00',
      state,
      position: 50 - index * 10,
    });
  }
  for (const [index, facts] of projects.entries()) {
    const status = cyclicAt(rows.projectStatus, facts.status);
    const lead = facts.lead === undefined ? undefined : cyclicAt(rows.member, facts.lead);
    rows.project.push({
      workspaceId,
      id: uuid(),
      teamId: cyclicAt(rows.team, facts.team).id,
      key: facts.key,
      name: facts.name,
      nameFold: fold(facts.name),
      summary: index ? '' : 'In a line.',
      description: index ? '' : 'In full.',
      slug: facts.key.toLowerCase(),
      color: '#0000ff',
      statusId: status.id,
      state: status.state,
      statusPosition: status.position,
      priority: facts.priority,
      leadUserAccountId: lead?.userAccountId ?? null,
      leadDisplayNameFold: lead?.displayNameFold ?? null,
      startUtc: index % 2 ? new Date(nowMs - 50 * dayMs) : null,
      targetUtc: facts.targetDays === undefined ? null : new Date(nowMs + facts.targetDays * dayMs),
      linkCount: [3, 1][index] ?? 0,
      createdUtc: new Date(nowMs - 60 * dayMs),
    });
  }
  addProjectRelations(fixture);
}

function addProjectRelations({ workspaceId, rows, uuid, nowMs }: Fixture): void {
  const [first, second] = rows.project;
  for (const [index, project] of [first, first, first, second].entries()) {
    if (!project) continue;
    const projectId = project.id;
    rows.projectMember.push({
      workspaceId,
      projectId,
      userAccountId: cyclicAt(rows.member, index).userAccountId,
    });
    rows.projectLabel.push({ workspaceId, projectId, labelId: cyclicAt(rows.label, index + 1).id });
    rows.projectCount.push({
      workspaceId,
      projectId,
      slot: index,
      issueCount: 3,
      completedIssueCount: index,
    });
    rows.projectLink.push({
      workspaceId,
      id: uuid(),
      projectId,
      url: `https://fixture.example/project/${index}`,
      title: `Link ${index}`,
      // The first two have the same time.
      createdUtc: new Date(nowMs - (index < 2 ? 9 : 8) * dayMs),
      createdByUserAccountId: cyclicAt(rows.member, index).userAccountId,
    });
  }
}

function addRepositories({ workspaceId, rows, uuid }: Fixture): void {
  for (const [index, name] of ['web', 'Web', 'apí', 'infra_1', 'mobile'].entries()) {
    rows.repository.push({
      workspaceId,
      id: uuid(),
      teamId: cyclicAt(rows.team, index === 4 ? 1 : 0).id,
      workspaceScmConnectionId: index ? '' : 'connection-1',
      provider: (index % 2) + 1,
      externalProjectId: `project-${index}`,
      externalProjectName: index < 2 ? 'Grünes Projekt' : '',
      externalProjectNameFold: index < 2 ? 'grunes projekt' : '',
      externalRepositoryId: `${index}`,
      externalRepositoryName: name,
      externalRepositoryNameFold: fold(name),
      externalRepositoryFullName: `fixture/${name}`,
      externalRepositoryUrl: `https://git.example/${index}`,
      defaultBranch: index % 2 ? 'main' : 'Trunk',
      defaultBranchFold: index % 2 ? 'main' : 'trunk',
      isDefaultForAgents: index === 2,
    });
  }
}
