import { expect, it } from '@jest/globals';
import { AppError, type Violation } from '../../src/resolvers/errors.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { useDirectoryWorld } from './directory-world.ts';
import { bead, importWorld } from './import-world.ts';

const world = useDirectoryWorld();

async function violationsOf(text: string, args: { workspace?: string } = {}): Promise<readonly Violation[]> {
  const error: unknown = await world.apply(text, args).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(AppError);
  return error instanceof AppError ? error.violations : [];
}

it('directory apply reports all errors in the structure of a file at once, by path', async () => {
  const text = `
workspce: x
members: [{ emailAddress: nobody, role: king }]
teams:
  - { code: 1st, slug: 'A b', deliveries: [{ number: 0, startsOn: 2026-02-30, endsOn: 2026-01-01 }] }
  - { code: A, color: #fff
    }
projects: nothing
`;
  const fields = (await violationsOf(text)).map(({ field, message }) => `${field}: ${message}`);
  expect(fields.toSorted()).toEqual([
    'file: has the unknown keys workspce; it may have workspace, members, agent, agents, labels, teams, projectStatuses, projects',
    'members[0].displayName: must be a text (quote it if it begins with # or looks like a number)',
    'members[0].emailAddress: must be an e-mail address',
    'members[0].role: must be one of owner, admin, member, guest',
    'projects: must be a list',
    'teams[0].code: must be a letter and up to 9 letters and digits',
    'teams[0].deliveries[0].number: must be 1 or more',
    'teams[0].deliveries[0].startsOn: must be a calendar date, YYYY-MM-DD',
    'teams[0].slug: must be 1 to 100 characters of a-z, 0-9 and -, not starting with -',
    'teams[1].color: must be a text (quote it if it begins with # or looks like a number)',
  ]);
});

it('directory apply says why a file is not valid YAML', async () => {
  await expect(world.apply('a: [')).rejects.toThrow('The file is not valid YAML');
  await expect(world.apply('workspace: A\n---\nworkspace: B\n')).rejects.toThrow(
    'it has several documents, separated by ---, and a directory is one',
  );
  await expect(world.apply('['.repeat(100_000))).rejects.toThrow('it is nested too deep');
});

it('directory apply names every unknown reference, and writes nothing', async () => {
  const before = await world.contents();
  const text = `
workspace: ${world.name}
members: [{ displayName: Twin, emailAddress: a@x.org }, { displayName: Twin, emailAddress: b@x.org }]
teams:
  - code: ENG
    lead: nobody@example.com
    members: [Twin]
    deliveries: [{ number: 1, startsOn: 2026-02-01, endsOn: 2026-01-01 }]
    statuses: [{ name: Done, category: completed }, { name: done, category: open }]
  - { code: eng }
projects:
  - { key: A, team: NONE }
  - { key: B, team: ENG, status: Lost, labels: [none] }
  - { key: C }
`;
  const fields = (await violationsOf(text)).map(({ field }) => field);
  expect(fields.toSorted()).toEqual([
    'members',
    'projects[0].team',
    'projects[1].status',
    'projects[2].team',
    'teams[0].deliveries[0].endsOn',
    'teams[0].lead',
    'teams[0].members[0]',
    'teams[0].statuses[1]',
    'teams[1].code',
  ]);
  expect(await world.contents()).toEqual(before);
});

it('directory apply refuses to remove the last owner, and to close a status with open issues', async () => {
  const imports = await importWorld(world.database, world.name);
  expect(
    await violationsOf(`members: [{ displayName: Olive Owner, role: guest }]`, { workspace: world.name }),
  ).toMatchObject([{ field: 'members' }]);
  const change = (status: string, category: string) =>
    `teams: [{ code: BD, statuses: [{ name: ${status}, category: ${category} }] }]`;
  await imports.beads(imports.write('a.jsonl', [bead('a')]));
  expect(await violationsOf(change('Todo', 'completed'), { workspace: world.name })).toMatchObject([
    { field: 'teams[0].statuses[0].category' },
  ]);
  await world.apply(change('Todo', 'active'), { workspace: world.name });
  await world.apply(change('In Progress', 'canceled'), { workspace: world.name });
  expect(await brokenInvariants(world.database)).toEqual({});
  imports.remove();
});

it('directory apply accepts as many labels of a project as an answer may contain', async () => {
  const names = Array.from({ length: 251 }, (_, index) => `label ${index}`);
  const text = `
labels: [${names.join(', ')}]
teams: [{ code: LIM }]
projects: [{ key: LIMITS, team: LIM, labels: [${names.join(', ')}] }]
`;
  expect(await violationsOf(text)).toEqual([
    { field: 'projects[0].labels', message: 'a project has at most 250' },
  ]);
});

it('directory apply accepts as many statuses of a team as an answer may contain', async () => {
  const file = (more: number) => {
    const extra = Array.from({ length: more }, (_, index) => `{ name: Extra ${index}, category: active }`);
    return `teams: [{ code: LST, statuses: [{ name: Todo, category: open }, ${extra.join(', ')}] }]`;
  };
  expect(await violationsOf(file(250))).toEqual([
    { field: 'teams[0].statuses', message: 'a team has at most 250 statuses' },
  ]);
  await world.apply(file(249));
});
