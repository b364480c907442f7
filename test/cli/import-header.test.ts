import { expect, it } from '@jest/globals';
import { runImport } from '../../src/cli/import.ts';
import { exportDirectory } from '../../src/portability/export/export-directory.ts';
import { parseExportedDirectory } from '../../src/portability/directory/directory-file.ts';
import { changeOrigin } from '../../src/model/codes.ts';
import { exported, useImportWorld } from './import-world.ts';

// The header of an export may be written by anyone, so it must not give anybody a role or rename the workspace.

const suite = useImportWorld();

const header = { _type: 'header', format: 'workgraph', version: 1, workspace: { id: 'x', name: 'X' } };
const issue = { _type: 'issue', key: 'EV-1', title: 'One', createdUtc: '2026-01-02T03:04:05Z' };
const teams = [{ code: 'EV', name: 'Evening' }];
const evil = { displayName: 'Evil', emailAddress: 'evil@x.example', role: 'owner' };
const olive = 'olive@example.com';

function imported(directory: unknown): Promise<unknown> {
  const file = suite.world.write('a.ndjson', [{ ...header, directory }, issue]);
  return suite.world.run((env) => runImport(env, { file, from: 'ndjson', workspace: suite.name }));
}

const members = () =>
  suite.database.unscoped
    .selectFrom('member')
    .select(['displayName'])
    .where('workspaceId', '=', suite.world.workspaceId)
    .execute();

it.each([
  ['workspace', { teams, workspace: 'Other' }],
  ['members', { teams, members: [evil] }],
  ['agent', { teams, agent: { displayName: 'Robo' } }],
  ['agents', { teams, agents: [{ displayName: 'Robo', role: 'owner' }] }],
  ['workspace, members', { workspace: 'Other', members: [evil], teams }],
  ['lead', { teams: [{ ...teams[0], lead: olive }] }],
  ['members', { teams: [{ ...teams[0], members: [olive] }] }],
  ['repositories', { teams: [{ ...teams[0], repositories: [] }] }],
  ['lead, members', { teams, projects: [{ key: 'MOON', team: 'EV', lead: olive, members: [olive] }] }],
])('an import refuses %s in the header by name, and writes nothing', async (named, directory) => {
  await expect(imported(directory)).rejects.toThrow(
    new RegExp(`an import does not apply ${named}, only \\w+.*use \`npx workgraph directory apply\``),
  );
  expect(await members()).toEqual([{ displayName: 'Olive Owner' }]);
  const [written] = await exported(suite.world, suite.name);
  expect(JSON.stringify(written)).not.toContain('Evening');
});

it('an import names the field that a header lacks', async () => {
  const { workspace: _, ...incomplete } = header;
  const file = suite.world.write('a.ndjson', [incomplete, issue]);
  const run = suite.world.run((env) => runImport(env, { file, from: 'ndjson', workspace: suite.name }));
  await expect(run).rejects.toThrow(/its first line is not a header: workspace: /);
});

it('an import reads a header with a million values, and refuses one with more', async () => {
  // The others are the header, its five fields, the two of the workspace, and the list.
  const filler = (values: number) => ({ filler: Array.from({ length: values - 9 }, () => 0) });
  await expect(imported(filler(1_000_000))).rejects.toThrow(/an import does not apply filler, only/);
  await expect(imported(filler(1_000_001))).rejects.toThrow(
    /^The file is not an export of workgraph: its first line is not a header: it has more than 1,000,000 values\.$/,
  );
});

it('an import applies every section that an export writes, and logs it as imported', async () => {
  await imported({
    labels: ['shared'],
    teams: [
      {
        ...teams[0],
        labels: ['own'],
        statuses: [
          { name: 'Open', category: 'open', isInitial: true },
          { name: 'Done', category: 'completed' },
        ],
        deliveries: [{ number: 1, startsOn: '2026-01-01', endsOn: '2026-01-31' }],
      },
    ],
    projects: [{ key: 'MOON', team: 'EV', name: 'Moon', labels: ['shared'] }],
  });
  const changes = await suite.database.unscoped
    .selectFrom('changeInbox')
    .select(['eventType', 'origin'])
    .where('workspaceId', '=', suite.world.workspaceId)
    .where('eventType', 'in', ['project.created.v1', 'delivery.created.v1'])
    .execute();
  // A webhook without `hasImports` gets nothing of an import.
  expect(changes).toEqual([
    { eventType: expect.any(String), origin: changeOrigin.import },
    { eventType: expect.any(String), origin: changeOrigin.import },
  ]);
  const { directory } = await exportDirectory(suite.database.of(suite.world.workspaceId), undefined);
  expect(Object.values(directory).map((section) => (section as unknown[]).length > 0)).toEqual(
    Array(4).fill(true),
  );
  expect(JSON.stringify(directory)).toContain('Evening');
  expect(Object.keys(parseExportedDirectory(JSON.parse(JSON.stringify(directory))))).toEqual(
    Object.keys(directory),
  );
});
