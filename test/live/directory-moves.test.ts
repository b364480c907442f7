import { beforeEach, describe, expect, it } from '@jest/globals';
import { applyDirectory } from '../../src/portability/directory/directory.ts';
import { parseDirectory } from '../../src/portability/directory/directory-file.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { followList } from './list-events.ts';
import { changesOf } from './logged.ts';
import { newestCursor, nextAnswer, untilCaughtUp } from './subscribing.ts';

// A directory file changes rows that issues refer to, and so the derived fields of teams and projects.
const { app, world } = useIssueWorld({ changesRows: true });

const apply = (file: object) =>
  applyDirectory(app.database, systemActor, parseDirectory({ workspace: 'ignored', ...file }), {
    workspaceId: app.workspaceId,
  });

let teamCount = 0;

/** Creates two members, their team and its active project, which no other test uses. */
async function newTeamWithProject() {
  teamCount += 1;
  const people = [`Mina Mover ${teamCount}`, `Stan Stayer ${teamCount}`];
  const team = { code: `MOV${teamCount}`, name: `Movers ${teamCount}`, members: people };
  const statusFile = (state: string) => ({ projectStatuses: [{ name: `Packing ${teamCount}`, state }] });
  const project = {
    key: `MOVE${teamCount}`,
    team: team.code,
    name: `Move ${teamCount}`,
    status: `Packing ${teamCount}`,
  };
  const members = people.map((displayName) => ({ displayName }));
  await apply({ members, teams: [team], ...statusFile('active'), projects: [project] });
  return { people, team, project, statusFile };
}

let current: Awaited<ReturnType<typeof newTeamWithProject>>;
beforeEach(async () => {
  current = await newTeamWithProject();
});

const changesIn = async (file: object) => {
  const changes = await changesOf(app.database, app.workspaceId, () => apply(file));
  return changes.map(({ eventType, fields, previous }) => ({ eventType, fields, previous }));
};

describe('a directory file logs the derived fields of existing rows', () => {
  it('that has another status of projects, by their state and the count of their team', async () => {
    expect(await changesIn(current.statusFile('paused'))).toEqual([
      { eventType: 'project-status.updated.v1', fields: ['state'], previous: { state: expect.any(Number) } },
      { eventType: 'team.updated.v1', fields: ['activeProjectCount'], previous: { activeProjectCount: 1 } },
      { eventType: 'project.updated.v1', fields: ['state'], previous: { state: expect.any(Number) } },
    ]);
  });

  it('that suspends a member, by the count of its team', async () => {
    const members = [{ displayName: current.people[0], status: 'suspended' }];
    expect(await changesIn({ members })).toEqual([
      { eventType: 'member.updated.v1', fields: ['status'], previous: { status: expect.any(Number) } },
      { eventType: 'team.updated.v1', fields: ['memberCount'], previous: { memberCount: 2 } },
    ]);
  });

  it('that adds a member to a team, in the same event as the addition', async () => {
    const file = {
      members: [{ displayName: 'Nele New' }],
      teams: [{ ...current.team, members: ['Nele New'] }],
    };
    expect(await changesIn(file)).toEqual([
      { eventType: 'member.created.v1', fields: [], previous: {} },
      { eventType: 'team.updated.v1', fields: ['members', 'memberCount'], previous: { memberCount: 2 } },
    ]);
  });

  it('that adds a link to a project, by the count of its links', async () => {
    const links = [{ url: 'https://example.com/move', title: 'Move' }];
    expect(await changesIn({ projects: [{ ...current.project, links }] })).toEqual([
      { eventType: 'project-link.created.v1', fields: [], previous: {} },
      { eventType: 'project.updated.v1', fields: ['linkCount'], previous: { linkCount: 0 } },
    ]);
  });
});

const newTeam = (code: string) => () => ({ teams: [{ code, name: code, members: current.people }] });
const inNewTeam = { teams: { some: { code: { startsWith: 'NEW' } } } };

it.each<[what: string, filter: object, fileOf: () => object]>([
  [
    'a member of a counted team',
    { team: { memberCount: { gte: 1 } } },
    () => ({ members: [{ displayName: current.people[1], status: 'suspended' }] }),
  ],
  [
    'the status of a counted project',
    { team: { activeProjectCount: { gte: 1 } } },
    () => current.statusFile('paused'),
  ],
  [
    'the status of a project by its state',
    { project: { state: { eq: 'ACTIVE' } } },
    () => current.statusFile('completed'),
  ],
  ['a new team of an assignee', { primaryAssignee: inNewTeam }, newTeam('NEWA')],
  ['a new team of any assignee', { assignees: { some: inNewTeam } }, newTeam('NEWB')],
  ['a new team of a member of the team', { team: { members: { some: inNewTeam } } }, newTeam('NEWC')],
  ['a new team of a member of the project', { project: { members: { some: inNewTeam } } }, newTeam('NEWD')],
])('a live list is to be read again after a directory file has changed %s', async (_what, filter, fileOf) => {
  const stream = await followList(app, world.ada.token, { filter, after: await newestCursor(app) });
  await apply(fileOf());
  expect((await nextAnswer(stream)).answer).toMatchObject({
    data: { issues: null },
    extensions: { reset: true },
  });
  stream.stop();
});

it('a live list need not be read again after a label is created that no issue has', async () => {
  const filter = { labels: { some: { name: { eq: 'Fresh' } } } };
  const stream = await followList(app, world.ada.token, { filter, after: await newestCursor(app) });
  await apply({ labels: ['Fresh'] });
  await untilCaughtUp(app, stream);
  expect(stream.count()).toBe(0);
  stream.stop();
});
