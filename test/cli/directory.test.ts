import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { applyDirectory } from '../../src/portability/directory/directory.ts';
import { parseDirectory } from '../../src/portability/directory/directory-file.ts';
import { newUuid, parseId } from '../../src/resolvers/ids.ts';
import { createWorkspace } from '../../src/resolvers/workspaces.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { useDirectoryWorld } from './directory-world.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';

const world = useDirectoryWorld();

const yaml = () => `
workspace: ${world.name}
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

async function one<Found>(query: ReturnType<typeof sql<Found>>): Promise<Found | undefined> {
  return (await query.execute(world.database.unscoped)).rows[0];
}

it('directory apply shows control characters as escapes, in its changes and its summary', async () => {
  const file = (teamName: string) => String.raw`
workspace: "${world.name}\e[2J"
members: [{ displayName: "Ada\a", role: owner }]
teams: [{ code: ENG, name: "${teamName}" }]
`;
  const created = await world.apply(file('Engineering'));
  expect(created.lines).toEqual(
    expect.arrayContaining([
      String.raw`create workspace ${world.name}\u001b[2J`,
      String.raw`create member Ada\u0007`,
    ]),
  );
  expect(created.stderr).toBe(String.raw`8 created, 0 updated in ${world.name}\u001b[2J` + '\n');
  const renamed = await world.apply(file(String.raw`Engineering\x9b1m`));
  expect(renamed.stdout).toBe(String.raw`update team ENG: name "Engineering" → "Engineering\u009b1m"` + '\n');
  const same = await world.apply(file(String.raw`Engineering\x9b1m`));
  expect(same.stderr).toBe(
    String.raw`No change: the workspace ${world.name}\u001b[2J already matches the file.` + '\n',
  );
});

it('directory apply creates everything in the file, and a second run changes nothing', async () => {
  const first = await world.apply(yaml());
  expect(first).toMatchObject({ exitCode: 0, stderr: `30 created, 0 updated in ${world.name}\n` });
  expect(first.lines).toEqual(
    expect.arrayContaining([
      `create workspace ${world.name}`,
      'create member Robo',
      'create label group Kind',
      'create status ENG: Todo',
    ]),
  );
  const before = await world.contents();
  const second = await world.apply(yaml());
  expect(second).toMatchObject({
    lines: [],
    stderr: `No change: the workspace ${world.name} already matches the file.\n`,
  });
  expect(await world.contents()).toEqual(before);
  expect(await brokenInvariants(world.database)).toEqual({});
});

it('directory apply updates folded texts, counts and copies', async () => {
  await world.apply(yaml());
  const team = await one(sql<Record<string, unknown>>`
    select t.name_fold, t.slug, t.member_count, t.active_project_count, t.deliveries_enabled, c.next_issue_number,
      (select string_agg(s.name || case when s.is_initial then '*' else '' end, ', ' order by s.position) from status s
        where s.workspace_id = t.workspace_id and s.team_id = t.id) as statuses
    from team t join workspace w on w.id = t.workspace_id join team_counter c on c.team_id = t.id
    where w.name = ${world.name} and t.code = 'ENG'`);
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
    from project p join workspace w on w.id = p.workspace_id where w.name = ${world.name}`);
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

it('directory apply logs short previous texts, and null in place of long ones', async () => {
  const file = (texts: Record<string, string>) =>
    parseDirectory({
      workspace: world.name,
      members: [{ displayName: 'Ada', role: 'owner' }],
      teams: [{ code: 'ENG' }],
      projects: [{ key: 'MOON', team: 'ENG', ...texts }],
    });
  await applyDirectory(world.database, systemActor, file({ name: 'Moon', description: 'd'.repeat(60_000) }));
  const { workspaceId } = await applyDirectory(
    world.database,
    systemActor,
    file({ name: 'Mars', description: 'Red' }),
  );
  const logged = await one(sql<{ previous: unknown }>`
    select previous from (
      select workspace_id, event_type, previous from change
      union all select workspace_id, event_type, previous from change_inbox) logged
    where workspace_id = ${workspaceId} and event_type = 'project.updated.v1'`);
  expect(logged?.previous).toEqual({ name: 'Moon', description: null });
});

it('directory apply prints each change with the old and the new value, and a dry run changes nothing', async () => {
  await world.apply(yaml());
  const before = await world.contents();
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
  const dry = await world.apply(text, { 'dry-run': true });
  expect(dry.lines.toSorted()).toEqual(lines.toSorted());
  expect(dry.stderr).toContain('nothing was changed');
  expect(await world.contents()).toEqual(before);
  expect((await world.apply(text)).lines.toSorted()).toEqual(lines.toSorted());
  expect((await world.apply(text)).lines).toEqual([]);
  const team = await one(sql<{ count: number }>`select active_project_count as count from team t
    join workspace w on w.id = t.workspace_id where w.name = ${world.name} and t.code = 'ENG'`);
  expect(team).toEqual({ count: 0 });
  // The copies of the lead's name are updated as well.
  const renamed = text
    .replace('displayName: Ada Lovelace', 'displayName: Ada King')
    .replaceAll('[Ada Lovelace', '[Ada King');
  await world.apply(renamed);
  const lead = await one(sql<{ fold: string }>`select lead_display_name_fold as fold from project p
    join workspace w on w.id = p.workspace_id where w.name = ${world.name}`);
  expect(lead).toEqual({ fold: 'ada king' });
});

it('directory apply does not change what the file does not mention', async () => {
  await world.apply(yaml());
  const before = await world.contents();
  expect((await world.apply(`workspace: ${world.name}\nteams: [{ code: ENG }]\n`)).lines).toEqual([]);
  expect((await world.apply('', { workspace: world.name })).lines).toEqual([]);
  expect(await world.contents()).toEqual(before);
  await world.apply(`teams: [{ code: ENG, lead: null }]`, { workspace: world.name });
  const lead = await one(sql<{ lead: string | null }>`select lead_user_account_id as lead from team t
    join workspace w on w.id = t.workspace_id where w.name = ${world.name} and t.code = 'ENG'`);
  expect(lead).toEqual({ lead: null });
});

it('directory apply changes another workspace when it is named', async () => {
  await world.apply(yaml());
  const other = `${world.name} other`;
  await world.apply(`workspace: ${other}\nmembers: [{ displayName: Otto, role: owner }]`);
  expect((await world.apply(yaml(), { workspace: other })).stderr).toMatch(/29 created, 0 updated/);
  await expect(world.apply(yaml(), { workspace: 'Nowhere' })).rejects.toThrow(
    'There is no workspace Nowhere',
  );
});

it('concurrent runs of directory apply with the same file create one workspace', async () => {
  const file = parseDirectory({
    workspace: world.name,
    members: [{ displayName: 'Ada', role: 'owner' }],
    teams: [{ code: 'A' }],
  });
  const applied = await Promise.all([1, 2, 3].map(() => applyDirectory(world.database, systemActor, file)));
  expect(new Set(applied.map(({ workspaceId }) => workspaceId)).size).toBe(1);
  expect(applied.filter(({ changes }) => changes.length > 0)).toHaveLength(1);
});

it('directory apply prints the changes as one object for a script', async () => {
  const { stdout } = await world.apply(yaml(), { json: true });
  const report = JSON.parse(stdout) as { workspaceId: string; changes: unknown[] };
  expect(parseId(report.workspaceId)?.prefix).toBe('workspace');
  expect(report.changes[0]).toEqual({ action: 'create', kind: 'workspace', name: world.name, fields: {} });
});

it('directory apply reports when it is ambiguous which workspace is meant', async () => {
  const file = parseDirectory({ members: [{ displayName: 'Ada', role: 'owner' }] });
  const apply = (workspaceId?: string) =>
    applyDirectory(world.database, systemActor, file, { ...(workspaceId && { workspaceId }) });
  await expect(apply()).rejects.toThrow('workspace: is required, because no workspace was chosen.');
  await expect(apply(newUuid())).rejects.toThrow('The workspace does not exist.');
  for (const name of [world.name, world.name.toUpperCase()])
    await createWorkspace(world.database, systemActor, { name, ownerDisplayName: 'Ada' });
  await expect(world.apply(yaml())).rejects.toThrow('Several workspaces have the name in the file');
});

it('directory apply puts a label that exists into a new group', async () => {
  const members = 'members: [{ displayName: Ada, role: owner }]';
  await world.apply(`workspace: ${world.name}\n${members}\nlabels: [bug, chore]`);
  const grouped = `workspace: ${world.name}\n${members}\nlabels: [{ name: Kind, labels: [bug, chore, { name: task }] }]`;
  expect(await world.apply(grouped)).toMatchObject({ exitCode: 0 });
  expect((await world.apply(grouped)).stderr).toMatch(/^No change/);
});

it('a directory that only adds keeps the category of a status that issues have', async () => {
  const members = [{ displayName: 'Ada', role: 'owner' as const }];
  const withReview = (category: 'active' | 'completed') =>
    parseDirectory({
      workspace: world.name,
      members,
      teams: [
        {
          code: 'QA',
          statuses: [
            { name: 'New', category: 'open' },
            { name: 'Review', category },
          ],
        },
      ],
    });
  const { workspaceId } = await applyDirectory(world.database, systemActor, withReview('active'));
  await sql`
    insert into issue (workspace_id, id, team_id, number, title, title_fold, reporter_user_account_id, status_id, status_rank,
      priority, created_utc, updated_utc)
    select t.workspace_id, ${newUuid()}, t.id, 1, 'One', 'one', m.user_account_id, s.id, s.rank, 0, now(), now()
    from team t join status s on s.team_id = t.id and s.name = 'Review' join member m on m.workspace_id = t.workspace_id
    where t.workspace_id = ${workspaceId} limit 1`.execute(world.database.unscoped);
  const again = withReview('completed');
  await expect(applyDirectory(world.database, systemActor, again)).rejects.toThrow('cannot change');
  const { changes } = await applyDirectory(world.database, systemActor, again, { keepExisting: true });
  expect(changes).toEqual([]);
  // The other tests compare the rows of all workspaces with the counts of teams, in which this issue is not.
  await world.database.unscoped.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await trx.deleteFrom('issue').where('workspaceId', '=', workspaceId).execute();
  });
});
