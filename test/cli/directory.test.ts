import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { runDirectoryApply } from '../../src/cli/directory.ts';
import { applyDirectory } from '../../src/resolvers/directory.ts';
import { parseDirectory } from '../../src/resolvers/directory-file.ts';
import { AppError, type Violation } from '../../src/resolvers/errors.ts';
import { parseId } from '../../src/resolvers/ids.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';
import { bead, type ImportWorld, importWorld } from './import-world.ts';

let test: TestDatabase;
let cwd = '';
let made = 0;
let name = '';

beforeAll(async () => {
  test = await copyTemplate('migrated');
  cwd = mkdtempSync(join(tmpdir(), 'workgraph-directory-'));
});

afterAll(async () => {
  rmSync(cwd, { recursive: true, force: true });
  await test.drop();
});

beforeEach(() => {
  made += 1;
  name = `Acme ${made}`;
});

const yaml = () => `
workspace: ${name}
members:
  - displayName: Ada Lovelace
    emailAddress: Ada@Example.com
    role: owner
  - displayName: Grace Hopper
  - { displayName: Sid, status: suspended }
agent: { displayName: Robo }
labels:
  - bug
  - name: Kind
    labels: [feature, { name: chore, color: '#999' }]
teams:
  - code: eng
    name: Ingénierie
    lead: ada@example.com
    members: [Ada Lovelace, grace hopper, Sid]
    labels: [backend]
    deliveries:
      - { number: 1, startsOn: 2026-01-05, endsOn: 2026-01-18, state: active }
    repositories:
      - { provider: github, externalRepositoryFullName: acme/api, defaultBranch: main, isDefaultForAgents: true }
      - { provider: azure-devops, externalRepositoryFullName: acme/web, externalProjectName: Web }
  - code: OPS
    statuses:
      - { name: New, category: open }
      - { name: Solved, category: completed }
projects:
  - key: apollo
    team: ENG
    name: Apollo
    lead: Grace Hopper
    status: Active
    priority: high
    members: [Ada Lovelace]
    labels: [bug, backend]
    targetUtc: 2026-03-01
    links: [{ url: 'https://example.com/plan', title: Plan }]
`;

async function apply(text: string, args: { workspace?: string; 'dry-run'?: boolean } = {}) {
  writeFileSync(join(cwd, 'directory.yaml'), text);
  const said = { stdout: '', stderr: '' };
  const exitCode = await runDirectoryApply(
    {
      database: test.database,
      dataDir: cwd,
      stdout: (out) => (said.stdout += out),
      stderr: (err) => (said.stderr += err),
      isTerminal: false,
      columns: 80,
      cwd,
      signal: new AbortController().signal,
    },
    { file: 'directory.yaml', ...args },
  );
  return { exitCode, lines: said.stdout.split('\n').filter(Boolean), stderr: said.stderr };
}

async function violationsOf(text: string, args: { workspace?: string } = {}): Promise<readonly Violation[]> {
  const error: unknown = await apply(text, args).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(AppError);
  return error instanceof AppError ? error.violations : [];
}

/** All that the workspaces of the database hold, times aside. */
async function contents(): Promise<unknown> {
  const tables =
    'workspace member team team_counter team_member status label delivery project_status project repository';
  const all: Record<string, unknown> = {};
  for (const table of tables.split(' ')) {
    const { rows } =
      await sql`select (to_jsonb(t) - 'updated_utc')::text as row from ${sql.table(table)} t order by 1`.execute(
        test.database.unscoped,
      );
    all[table] = rows;
  }
  return all;
}

async function one<Found>(query: ReturnType<typeof sql<Found>>): Promise<Found | undefined> {
  return (await query.execute(test.database.unscoped)).rows[0];
}

it('makes all that the file says, then finds nothing to do', async () => {
  const first = await apply(yaml());
  expect(first).toMatchObject({ exitCode: 0, stderr: `30 created, 0 updated in ${name}\n` });
  expect(first.lines).toEqual(
    expect.arrayContaining([
      `create workspace ${name}`,
      'create member Robo',
      'create label group Kind',
      'create status ENG: Todo',
    ]),
  );
  const before = await contents();
  const second = await apply(yaml());
  expect(second).toMatchObject({
    lines: [],
    stderr: `No change: the workspace ${name} is as the file says.\n`,
  });
  expect(await contents()).toEqual(before);
  expect(await brokenInvariants(test.database)).toEqual({});
});

it('keeps folds, counts and copies true', async () => {
  await apply(yaml());
  const team = await one(sql<Record<string, unknown>>`
    select t.name_fold, t.slug, t.member_count, t.active_project_count, t.deliveries_enabled, c.next_issue_number,
      (select string_agg(s.name || case when s.is_initial then '*' else '' end, ', ' order by s.position) from status s
        where s.workspace_id = t.workspace_id and s.team_id = t.id) as statuses
    from team t join workspace w on w.id = t.workspace_id join team_counter c on c.team_id = t.id
    where w.name = ${name} and t.code = 'ENG'`);
  expect(team).toEqual({
    nameFold: 'ingenierie',
    slug: 'ingenierie',
    // Sid is suspended.
    memberCount: 2,
    activeProjectCount: 1,
    deliveriesEnabled: true,
    nextIssueNumber: 1,
    statuses: 'Backlog, Todo*, In Progress, Done, Canceled',
  });
  const project = await one(sql<Record<string, unknown>>`
    select p.key, p.state, p.status_position, p.lead_display_name_fold, p.link_count, p.target_utc,
      (select count(*)::int from project_label l where l.project_id = p.id) as labels
    from project p join workspace w on w.id = p.workspace_id where w.name = ${name}`);
  expect(project).toEqual({
    key: 'APOLLO',
    state: 2,
    statusPosition: 1,
    leadDisplayNameFold: 'grace hopper',
    linkCount: 1,
    targetUtc: new Date('2026-03-01T00:00:00Z'),
    labels: 2,
  });
});

it('says each change with what it was and what it becomes, and a dry run changes nothing', async () => {
  await apply(yaml());
  const before = await contents();
  const text = yaml()
    .replace('Grace Hopper\n', 'Grace Hopper\n    emailAddress: grace@example.com\n')
    .replace('name: Ingénierie', 'name: Ingénierie\n    color: "#123"')
    .replace('status: Active', 'status: Paused')
    .replace('lead: Grace Hopper', 'lead: ada@example.com')
    .replace(
      '- { name: New, category: open }',
      '- { name: New, category: open }\n      - { name: Triage, category: backlog, isInitial: true }',
    );
  const lines = [
    'update member Grace Hopper: emailAddress null → "grace@example.com"',
    'update team ENG: color "" → "#123"',
    'create status OPS: Triage',
    'update status OPS: New: isInitial true → false',
    'update project APOLLO: status "Active" → "Paused", lead "Grace Hopper" → "Ada Lovelace"',
  ];
  const dry = await apply(text, { 'dry-run': true });
  expect(dry.lines.toSorted()).toEqual(lines.toSorted());
  expect(dry.stderr).toContain('nothing was changed');
  expect(await contents()).toEqual(before);
  expect((await apply(text)).lines.toSorted()).toEqual(lines.toSorted());
  expect((await apply(text)).lines).toEqual([]);
  const team = await one(sql<{ count: number }>`select active_project_count as count from team t
    join workspace w on w.id = t.workspace_id where w.name = ${name} and t.code = 'ENG'`);
  expect(team).toEqual({ count: 0 });
  // Whoever leads is renamed where it was copied, too.
  const renamed = text
    .replace('displayName: Ada Lovelace', 'displayName: Ada King')
    .replaceAll('[Ada Lovelace', '[Ada King');
  await apply(renamed);
  const lead = await one(sql<{ fold: string }>`select lead_display_name_fold as fold from project p
    join workspace w on w.id = p.workspace_id where w.name = ${name}`);
  expect(lead).toEqual({ fold: 'ada king' });
});

it('leaves alone what the file does not speak of', async () => {
  await apply(yaml());
  const before = await contents();
  expect((await apply(`workspace: ${name}\nteams: [{ code: ENG }]\n`)).lines).toEqual([]);
  expect((await apply('', { workspace: name })).lines).toEqual([]);
  expect(await contents()).toEqual(before);
  await apply(`teams: [{ code: ENG, lead: null }]`, { workspace: name });
  const lead = await one(sql<{ lead: string | null }>`select lead_user_account_id as lead from team t
    join workspace w on w.id = t.workspace_id where w.name = ${name} and t.code = 'ENG'`);
  expect(lead).toEqual({ lead: null });
});

it('applies the file to another workspace when it is told which', async () => {
  await apply(yaml());
  const other = `${name} other`;
  await apply(`workspace: ${other}\nmembers: [{ displayName: Otto, role: owner }]`);
  expect((await apply(yaml(), { workspace: other })).stderr).toMatch(/29 created, 0 updated/);
  await expect(apply(yaml(), { workspace: 'Nowhere' })).rejects.toThrow('There is no workspace Nowhere');
});

it('tells everything that is wrong with the shape of a file at once, by its path', async () => {
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
    'file: has no workspce; it may have workspace, members, agent, labels, teams, projectStatuses, projects',
    'members[0].displayName: must be a text (quote it if it begins with # or looks like a number)',
    'members[0].emailAddress: must be an e-mail address',
    'members[0].role: must be one of owner, admin, member, guest',
    'projects: must be a list',
    'teams[0].code: must be a letter and up to 9 letters and digits',
    'teams[0].deliveries[0].number: must be 1 or more',
    'teams[0].deliveries[0].startsOn: must be a calendar date, YYYY-MM-DD',
    'teams[0].slug: must be 1 to 100 of a-z, 0-9 and -, not beginning with -',
    'teams[1].color: must be a text (quote it if it begins with # or looks like a number)',
  ]);
  await expect(apply('a: [')).rejects.toThrow('The file is no YAML that can be read');
});

it('names every reference that leads nowhere, and writes nothing', async () => {
  const before = await contents();
  const text = `
workspace: ${name}
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
  expect(await contents()).toEqual(before);
});

it('does not let the last owner go, nor issues change from open to closed under the hand', async () => {
  const world: ImportWorld = await importWorld(test.database, name);
  expect(
    await violationsOf(`members: [{ displayName: Olive Owner, role: guest }]`, { workspace: name }),
  ).toMatchObject([{ field: 'members' }]);
  const change = (status: string, category: string) =>
    `teams: [{ code: BD, statuses: [{ name: ${status}, category: ${category} }] }]`;
  await world.beads(world.write('a.jsonl', [bead('a')]));
  expect(await violationsOf(change('Todo', 'completed'), { workspace: name })).toMatchObject([
    { field: 'teams[0].statuses[0].category' },
  ]);
  await apply(change('Todo', 'active'), { workspace: name });
  await apply(change('In Progress', 'canceled'), { workspace: name });
  expect(await brokenInvariants(test.database)).toEqual({});
  world.remove();
});

it('makes one workspace of the same file applied by several at once', async () => {
  const file = parseDirectory({
    workspace: name,
    members: [{ displayName: 'Ada', role: 'owner' }],
    teams: [{ code: 'A' }],
  });
  const applied = await Promise.all([1, 2, 3].map(() => applyDirectory(test.database, file)));
  expect(new Set(applied.map(({ workspaceId }) => workspaceId)).size).toBe(1);
  expect(applied.filter(({ changes }) => changes.length > 0)).toHaveLength(1);
});

it('prints the changes as one object for a script', async () => {
  writeFileSync(join(cwd, 'json.yaml'), yaml());
  let stdout = '';
  const env = {
    database: test.database,
    dataDir: cwd,
    stdout: (out: string) => (stdout += out),
    stderr: () => undefined,
  };
  const { signal } = new AbortController();
  await runDirectoryApply(
    { ...env, isTerminal: false, columns: 80, cwd, signal },
    { file: 'json.yaml', json: true },
  );
  const said = JSON.parse(stdout) as { workspaceId: string; changes: unknown[] };
  expect(parseId(said.workspaceId)?.prefix).toBe('workspace');
  expect(said.changes[0]).toEqual({ action: 'create', kind: 'workspace', name, fields: {} });
});
