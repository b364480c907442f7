import { describe, expect, it } from '@jest/globals';
import { runImport } from '../../src/cli/import.ts';
import { AppError } from '../../src/resolvers/errors.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { useDirectoryWorld } from './directory-world.ts';
import { bead, importWorld } from './import-world.ts';

// Each integer in a file is set to its extremes. Afterwards an ordinary file must still be accepted.

const world = useDirectoryWorld();

const extremes = [
  -Number.MAX_SAFE_INTEGER,
  -2_147_483_649,
  -2_147_483_648,
  -1,
  0,
  9_999,
  10_000,
  2_147_483_647,
  2_147_483_648,
  Number.MAX_VALUE,
];

/** A directory file with every integer that one may have. */
const directory = {
  members: [{ displayName: 'Olive', emailAddress: 'olive@example.com', role: 'owner' }],
  teams: [
    {
      code: 'ENG',
      name: 'Engineering',
      statuses: [
        { name: 'Todo', category: 'open', position: 1, isInitial: true },
        { name: 'Done', category: 'completed', position: 2 },
      ],
      deliveries: [{ number: 3, startsOn: '2026-01-01', endsOn: '2026-01-14' }],
    },
  ],
  projectStatuses: [{ name: 'Now', state: 'active', position: 4 }],
  projects: [{ key: 'APOLLO', name: 'Apollo', team: 'ENG', status: 'Now' }],
};

/** The same without its integers, and with more of everything that is placed behind what is there. */
const following = (round: number) => ({
  members: directory.members,
  teams: [
    {
      code: 'ENG',
      name: 'Engineering',
      statuses: [
        { name: 'Todo', category: 'open', isInitial: true },
        { name: 'Done', category: 'completed' },
        { name: `Then ${round}`, category: 'open' },
      ],
    },
  ],
  projectStatuses: [
    { name: 'Now', state: 'active' },
    { name: `Then ${round}`, state: 'active' },
  ],
  projects: [{ key: `P${round}`, name: 'Next', team: 'ENG', status: `Then ${round}` }],
});

describe('a directory file with an integer at an extreme', () => {
  const integers = leavesOf(directory).filter((path) => typeof valueAt(directory, path) === 'number');

  it.each(integers.map((path) => [path.join('.'), path] as const))(
    'is applied or refused (%s), and the next file is applied',
    async (_, path) => {
      const apply = (content: object) => world.apply(JSON.stringify({ workspace: world.name, ...content }));
      for (const [round, value] of extremes.entries()) {
        const outcome = await apply(withValue(directory, path, value)).catch((error: unknown) => error);
        if (outcome instanceof Error)
          expect([value, outcome instanceof AppError && outcome.code]).toEqual([value, 'validation_failed']);
        else expect([value, outcome]).toMatchObject([value, { exitCode: 0 }]);
        expect(await apply(following(round))).toMatchObject({ exitCode: 0 });
      }
      expect(await brokenInvariants(world.database)).toEqual({});
    },
  );
});

const exportedIssue = {
  _type: 'issue',
  key: 'BD-7',
  team: 'BD',
  title: 'An issue',
  description: 'Text',
  status: { name: 'Open', category: 'open' },
  priority: 'high',
  project: 'APOLLO',
  delivery: 1,
  estimateValue: 3,
  labels: ['one'],
  parent: 'BD-6',
  dueDate: '2026-01-01',
  createdUtc: '2026-01-01T00:00:00.000Z',
  updatedUtc: '2026-01-01T00:00:00.000Z',
  comments: [{ id: 'comment', body: 'Text', createdUtc: '2026-01-01T00:00:00.000Z', isEdited: false }],
  links: [{ url: 'https://example.com', title: 'A link' }],
};
const header = { _type: 'header', format: 'workgraph', version: 1, workspace: { id: 'w', name: 'W' } };

describe.each([
  { from: 'ndjson', head: [header], record: exportedIssue, options: {} },
  {
    from: 'beads',
    head: [],
    record: bead('bd-7', { estimated_minutes: 30, comments: [{ id: 1, text: 'Text' }] }),
    options: { team: 'BD' },
  },
])('an import from $from with an integer in place of any value', ({ from, head, record, options }) => {
  it('accepts or refuses each line, and the next import accepts its line', async () => {
    const home = await importWorld(world.database, world.name);
    const run = (lines: readonly unknown[]) => {
      const file = home.write('lines.jsonl', [...head, ...lines]);
      return home.run((env) => runImport(env, { file, from, workspace: world.name, json: true, ...options }));
    };
    const lines = leavesOf(record).flatMap((path) => extremes.map((value) => withValue(record, path, value)));
    const { stdout } = await run(lines);
    const { issues, refused } = JSON.parse(stdout) as { issues: number; refused: number };
    expect(issues + refused).toBe(lines.length);
    expect(await run([record])).toMatchObject({ exitCode: 0 });
    expect(await brokenInvariants(world.database)).toEqual({});
    home.remove();
  });
});

type Path = readonly (string | number)[];

/** The paths of all values that are neither objects nor lists. */
function leavesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return entries.flatMap(([key, below]) => leavesOf(below, [...path, key]));
}

function valueAt(value: unknown, [key, ...rest]: Path): unknown {
  return key === undefined ? value : valueAt((value as Record<string, unknown>)[key], rest);
}

/** A copy with another value at the path. */
function withValue<Value extends object>(value: Value, path: Path, leaf: number): Value {
  const copy = structuredClone(value);
  const parent = valueAt(copy, path.slice(0, -1)) as Record<string, unknown>;
  parent[String(path.at(-1))] = leaf;
  return copy;
}
