import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encodeId, idPrefixes, newUuid } from '../../src/resolvers/ids.ts';
import { objectTypes } from './schema-walk.ts';
import { codesOf, dataOf } from './graph-answer.ts';
import { sharedWorld, type SharedWorld } from './shared-world.ts';

let world: SharedWorld;
beforeAll(async () => {
  world = await sharedWorld();
});
afterAll(() => world.stop());

const nodeTypes = objectTypes
  .filter((type) => type.getInterfaces().some(({ name }) => name === 'Node'))
  .map(({ name }) => name);

describe('node', () => {
  it.each(nodeTypes)('returns every %s by its id, with its type', async (typeName) => {
    const ids = world.model.all(typeName).map(({ id }) => id);
    expect(ids).not.toHaveLength(0);
    expect(await readNodes(ids)).toEqual(ids.map((id) => ({ __typename: typeName, id })));
    const one = await world.ask('query ($id: ID!) { node(id: $id) { __typename id } }', { id: ids[0] });
    expect(dataOf(one).node).toEqual({ __typename: typeName, id: ids[0] });
  });

  it('is null for unknown ids of any kind', async () => {
    const ids = idPrefixes.map((prefix) => encodeId(prefix, newUuid()));
    expect(await readNodes(ids)).toEqual(ids.map(() => null));
  });

  it('is null for an id with the prefix of another type', async () => {
    const [team] = world.fixture.rows.team;
    const ids = idPrefixes
      .filter((prefix) => prefix !== 'team')
      .map((prefix) => encodeId(prefix, team?.id ?? ''));
    expect(await readNodes(ids)).toEqual(ids.map(() => null));
  });

  it.each([
    '',
    'x',
    'team',
    'team_',
    'ENG-1',
    'team_0',
    'team_8zzzzzzzzzzzzzzzzzzzzzzzzz',
    'squad_01h455vb4pex5vsknk084sn02q',
    'team_01H455VB4PEX5VSKNK084SN02Q',
    'team_01h455vb4pex5vsknk084sn02q\0',
    '💥',
  ])('refuses %j, which is not an id', async (id) => {
    for (const query of [
      'query ($id: ID!) { node(id: $id) { id } }',
      'query ($id: ID!) { nodes(ids: [$id]) { id } }',
    ]) {
      expect(codesOf(await world.ask(query, { id }))).toEqual(['INVALID_REQUEST']);
    }
  });
});

describe('deleted objects', () => {
  it('are null: an issue, a comment, a link, a file, and a file that was not uploaded', async () => {
    const { issue, comment, issueLink, attachment } = world.fixture.rows;
    const gone = [
      ...issue.filter(({ deletedUtc }) => deletedUtc).map(({ id }) => encodeId('issue', id)),
      ...comment.filter(({ deletedUtc }) => deletedUtc).map(({ id }) => encodeId('comment', id)),
      ...issueLink.filter(({ deletedUtc }) => deletedUtc).map(({ id }) => encodeId('link', id)),
      ...attachment
        .filter(({ deletedUtc, uploadedUtc }) => deletedUtc || !uploadedUtc)
        .map(({ id }) => encodeId('attachment', id)),
    ];
    expect(gone.length).toBeGreaterThanOrEqual(6);
    expect(await readNodes(gone)).toEqual(gone.map(() => null));
  });

  it('hide what belongs to them: comments, links, files, events, the thread and its messages', async () => {
    const { rows } = world.fixture;
    const deleted = new Set(rows.issue.filter(({ deletedUtc }) => deletedUtc).map(({ id }) => id));
    const tables = {
      comment: rows.comment,
      link: rows.issueLink,
      attachment: rows.attachment,
      activity: rows.activity,
      thread: rows.agentThread,
      message: rows.agentThreadMessage,
    } as const;
    for (const [prefix, all] of Object.entries(tables)) {
      const ids = all
        .filter(({ issueId }) => deleted.has(issueId))
        .map(({ id }) => encodeId(prefix as keyof typeof tables, id));
      expect([prefix, ids.length > 0]).toEqual([prefix, true]);
      expect([prefix, await readNodes(ids)]).toEqual([prefix, ids.map(() => null)]);
    }
  });
});

describe('nodes', () => {
  it('keeps the order of the ids, including duplicates and missing objects', async () => {
    const [team] = world.model.all('Team');
    const [issue] = world.model.all('Issue');
    const ids = [issue?.id, encodeId('team', newUuid()), team?.id, issue?.id, encodeId('user', newUuid())];
    const found = await readNodes(ids);
    expect(found).toEqual([
      { __typename: 'Issue', id: issue?.id },
      null,
      { __typename: 'Team', id: team?.id },
      { __typename: 'Issue', id: issue?.id },
      null,
    ]);
    expect(await readNodes([])).toEqual([]);
  });

  it('names the index of every value that is not an id', async () => {
    const answer = await world.ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: ['x', encodeId('team', newUuid()), 'y'],
    });
    expect(codesOf(answer)).toEqual(['INVALID_REQUEST']);
    const [error] = answer.body.errors ?? [];
    expect(error?.extensions?.errors).toEqual([
      { field: 'ids', message: 'expected an id, got something that is not an id' },
      { field: 'ids', message: 'expected an id, got something that is not an id' },
    ]);
  });

  it('accepts at most 250 ids, and takes one statement for each type among them', async () => {
    const ids = Array.from({ length: 250 }, () => encodeId('team', newUuid()));
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
    const alone = await world.ask(query, { ids: ids.slice(0, 1) });
    const full = await world.ask(query, { ids });
    expect(dataOf(full).nodes).toHaveLength(250);
    expect(full.statements).toBe(alone.statements);
    expect(codesOf(await world.ask(query, { ids: [...ids, ids[0]] }))).toEqual(['INVALID_REQUEST']);
  });
});

// Keys and codes, which people type in any case.
describe('keys', () => {
  const ask = async (field: string) => dataOf(await world.ask(`{ found: ${field} { id } }`)).found;

  it('find an issue in any case, as does its id', async () => {
    const [issue] = world.model.all('Issue');
    const key = String(issue?.key);
    for (const text of [key, key.toLowerCase(), String(issue?.id)]) {
      expect(await ask(`issue(key: "${text}")`)).toEqual({ id: issue?.id });
    }
  });

  it.each([
    'ENG-01',
    'ENG-0',
    'ENG-+1',
    ' ENG-1',
    'ENG-1 ',
    'ENG',
    'ENG-',
    '-1',
    'ENG-1-1',
    'ENG–1',
    'ENG-１',
    'ENG-2147483648',
    'ENG-99999999999999999999',
    '',
    '\\u0000',
    'ENG-1\\u0000',
    'ſ-1',
    'ENG-999',
  ])('find no issue for "%s"', async (text) => {
    expect(await ask(`issue(key: "${text}")`)).toBeNull();
  });

  it('find no deleted issue, by key or id', async () => {
    const { issue, team } = world.fixture.rows;
    for (const { id, teamId, number } of issue.filter(({ deletedUtc }) => deletedUtc)) {
      const code = team.find((each) => each.id === teamId)?.code;
      expect(await ask(`issue(key: "${code}-${number}")`)).toBeNull();
      expect(await ask(`issue(key: "${encodeId('issue', id)}")`)).toBeNull();
    }
  });

  it.each([
    ['team', 'code', 'Team', ['', 'NOPE', 'ENG ', 'ſEC', 'E-N', '\\u0000']],
    ['project', 'key', 'Project', ['', 'NOPE', 'ATLAS ', 'ATLAſ', 'AT_LAS', '\\u0000']],
  ] as const)(
    'find a %s by its %s in any case, and by its id',
    async (root, argument, typeName, strangers) => {
      for (const object of world.model.all(typeName)) {
        const key = String(object[argument]);
        for (const text of [key, key.toLowerCase(), String(object.id)]) {
          expect(await ask(`${root}(${argument}: "${text}")`)).toEqual({ id: object.id });
        }
      }
      for (const text of strangers)
        expect([text, await ask(`${root}(${argument}: "${text}")`)]).toEqual([text, null]);
    },
  );

  it('find a member only by id', async () => {
    const [member] = world.model.all('Member');
    expect(await ask(`member(id: "${String(member?.id)}")`)).toEqual({ id: member?.id });
    expect(await ask(`member(id: "${encodeId('member', newUuid())}")`)).toBeNull();
  });

  it.each([
    ['issue', 'key', 'Team', 'Expected an issue id, got a team id.'],
    ['team', 'code', 'Issue', 'Expected a team id, got an issue id.'],
    ['project', 'key', 'ProjectStatus', 'Expected a project id, got a project status id.'],
    ['member', 'id', 'RepositoryContext', 'Expected a member id, got a repository id.'],
  ])(
    'of %s(%s:) are refused for the id of a %s with the name of its type',
    async (root, argument, other, message) => {
      const [object] = world.model.all(other);
      const answer = await world.ask(`{ ${root}(${argument}: "${String(object?.id)}") { id } }`);
      expect(codesOf(answer)).toEqual(['INVALID_REQUEST']);
      const [error] = answer.body.errors ?? [];
      expect(error?.message).toBe(message);
      expect(error?.extensions?.errors).toEqual([expect.objectContaining({ field: argument })]);
    },
  );
});

async function readNodes(ids: readonly unknown[]): Promise<unknown> {
  return dataOf(await world.ask('query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }', { ids }))
    .nodes;
}
