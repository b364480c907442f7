import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { applyDirectory } from '../../src/portability/directory/directory.ts';
import { parseDirectory } from '../../src/portability/directory/directory-file.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { followList } from './list-events.ts';
import { changesOf } from './logged.ts';
import { cursorNow, nextAnswer } from './subscribing.ts';

// A directory file changes rows that issues refer to, and so the derived fields of teams and projects.
const { app, world } = useIssueWorld({ changesRows: true });

const apply = (file: object) =>
  applyDirectory(app.database, systemActor, parseDirectory({ workspace: 'ignored', ...file }), {
    workspaceId: app.workspaceId,
  });

let homeCount = 0;

/** Creates two members, their team and its active project, which no other test uses. */
async function newHome() {
  homeCount += 1;
  const people = [`Mina Mover ${homeCount}`, `Stan Stayer ${homeCount}`];
  const team = { code: `MOV${homeCount}`, name: `Movers ${homeCount}`, members: people };
  const packing = (state: string) => ({ projectStatuses: [{ name: `Packing ${homeCount}`, state }] });
  const project = {
    key: `MOVE${homeCount}`,
    team: team.code,
    name: `Move ${homeCount}`,
    status: `Packing ${homeCount}`,
  };
  const members = people.map((displayName) => ({ displayName }));
  await apply({ members, teams: [team], ...packing('active'), projects: [project] });
  return { people, team, project, packing };
}

let home: Awaited<ReturnType<typeof newHome>>;
beforeEach(async () => {
  home = await newHome();
});

const changesIn = async (file: object) => {
  const changes = await changesOf(app.database, app.workspaceId, () => apply(file));
  return changes.map(({ eventType, fields, previous }) => ({ eventType, fields, previous }));
};

describe('a directory file logs the derived fields of existing rows', () => {
  it('that has another status of projects, by their state and the count of their team', async () => {
    expect(await changesIn(home.packing('paused'))).toEqual([
      { eventType: 'project-status.updated.v1', fields: ['state'], previous: { state: expect.any(Number) } },
      { eventType: 'team.updated.v1', fields: ['activeProjectCount'], previous: { activeProjectCount: 1 } },
      { eventType: 'project.updated.v1', fields: ['state'], previous: { state: expect.any(Number) } },
    ]);
  });

  it('that suspends a member, by the count of its team', async () => {
    const members = [{ displayName: home.people[0], status: 'suspended' }];
    expect(await changesIn({ members })).toEqual([
      { eventType: 'member.updated.v1', fields: ['status'], previous: { status: expect.any(Number) } },
      { eventType: 'team.updated.v1', fields: ['memberCount'], previous: { memberCount: 2 } },
    ]);
  });

  it('that adds a member to a team, in the same event as the addition', async () => {
    const file = { members: [{ displayName: 'Nele New' }], teams: [{ ...home.team, members: ['Nele New'] }] };
    expect(await changesIn(file)).toEqual([
      { eventType: 'member.created.v1', fields: [], previous: {} },
      { eventType: 'team.updated.v1', fields: ['members', 'memberCount'], previous: { memberCount: 2 } },
    ]);
  });

  it('that adds a link to a project, by the count of its links', async () => {
    const links = [{ url: 'https://example.com/move', title: 'Move' }];
    expect(await changesIn({ projects: [{ ...home.project, links }] })).toEqual([
      { eventType: 'project-link.created.v1', fields: [], previous: {} },
      { eventType: 'project.updated.v1', fields: ['linkCount'], previous: { linkCount: 0 } },
    ]);
  });
});

const newTeam = (code: string) => () => ({ teams: [{ code, name: code, members: home.people }] });
const inNewTeam = { teams: { some: { code: { startsWith: 'NEW' } } } };

it.each<[what: string, filter: object, fileOf: () => object]>([
  [
    'a member of a counted team',
    { team: { memberCount: { gte: 1 } } },
    () => ({ members: [{ displayName: home.people[1], status: 'suspended' }] }),
  ],
  [
    'the status of a counted project',
    { team: { activeProjectCount: { gte: 1 } } },
    () => home.packing('paused'),
  ],
  [
    'the status of a project by its state',
    { project: { state: { eq: 'ACTIVE' } } },
    () => home.packing('completed'),
  ],
  ['a new team of an assignee', { primaryAssignee: inNewTeam }, newTeam('NEWA')],
  ['a new team of any assignee', { assignees: { some: inNewTeam } }, newTeam('NEWB')],
  ['a new team of a member of the team', { team: { members: { some: inNewTeam } } }, newTeam('NEWC')],
  ['a new team of a member of the project', { project: { members: { some: inNewTeam } } }, newTeam('NEWD')],
])('a live list is to be read again after a directory file has changed %s', async (_what, filter, fileOf) => {
  const stream = await followList(app, world.ada.token, { filter, after: await cursorNow(app) });
  await apply(fileOf());
  expect((await nextAnswer(stream)).answer).toMatchObject({
    data: { issues: null },
    extensions: { reset: true },
  });
  stream.stop();
});

it('a live list need not be read again after a label is created that no issue has', async () => {
  const filter = { labels: { some: { name: { eq: 'Fresh' } } } };
  const stream = await followList(app, world.ada.token, { filter, after: await cursorNow(app) });
  await apply({ labels: ['Fresh'] });
  const newest = await cursorNow(app);
  while (stream.lastId() !== newest) await setImmediate();
  expect(stream.count()).toBe(0);
  stream.stop();
});
