import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isEnumType } from 'graphql';
import { codeTables } from '../../src/model/codes.ts';
import { eventTypes } from '../../src/model/events.ts';
import { errorCodes } from '../../src/resolvers/errors.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { schema } from '../../src/schema/index.ts';
import { describeReads } from '../graph/read-suite.ts';
import { dataOf } from '../graph/graph-answer.ts';
import { sharedWorld, type SharedWorld } from '../graph/shared-world.ts';

let world: SharedWorld;
beforeAll(async () => {
  world = await sharedWorld();
});
afterAll(() => world.stop());

describeReads('Workspace', () => world);
describeReads('Member', () => world);
describeReads('Team', () => world);
describeReads('IssueStatus', () => world);
describeReads('Label', () => world);
describeReads('Delivery', () => world);
describeReads('RepositoryContext', () => world);

describe('a workspace', () => {
  it('is that of the token, whether read by the root, by the viewer or by id', async () => {
    const id = encodeId('workspace', world.fixture.workspaceId);
    const query = 'query ($id: ID!) { workspace { id } viewer { workspace { id } } node(id: $id) { id } }';
    expect(dataOf(await world.ask(query, { id }))).toEqual({
      workspace: { id },
      viewer: { workspace: { id } },
      node: { id },
    });
  });
});

describe('members', () => {
  it('are found by name and address regardless of case and accents', async () => {
    const find = async (filter: string) => {
      const { nodes } = dataOf(await world.ask(`{ members(filter: ${filter}) { nodes { displayName } } }`))
        .members as {
        nodes: { displayName: string }[];
      };
      return nodes.map(({ displayName }) => displayName);
    };
    expect(await find('{ displayName: { eq: "zoe" } }')).toEqual(['Zoë', 'ZOE']);
    expect(await find('{ displayName: { contains: "ANGSTROM" } }')).toEqual(['Ångström 100%']);
    expect(await find('{ displayName: { contains: "%" } }')).toEqual(['Ångström 100%']);
    expect(await find('{ emailAddress: { eq: "ZOE@fixture.EXAMPLE" } }')).toEqual(['Zoë']);
    expect(await find('{ emailAddress: { contains: "_" } }')).toEqual(['ZOE']);
  });
});

describe('labels', () => {
  it('of the workspace are distinguished from those of teams by a filter for a null team', async () => {
    const query =
      '{ workspace { labels(filter: { teamId: { isNull: true } }) { nodes { teamId team { id } } } } }';
    const { labels } = dataOf(await world.ask(query)).workspace as { labels: { nodes: unknown[] } };
    expect(labels.nodes).toEqual([1, 2, 3].map(() => ({ teamId: null, team: null })));
  });
});

describe('deliveries', () => {
  it('say whether they are current, upcoming or over', async () => {
    const query = '{ team(code: "ENG") { deliveries { nodes { isCurrent isUpcoming } } } }';
    const { deliveries } = dataOf(await world.ask(query)).team as { deliveries: { nodes: unknown[] } };
    expect(deliveries.nodes).toEqual([
      { isCurrent: false, isUpcoming: false },
      { isCurrent: true, isUpcoming: false },
      { isCurrent: true, isUpcoming: false },
    ]);
  });

  it('count 0 issues where no counters exist yet', async () => {
    const query =
      '{ team(code: "OPS") { deliveries(last: 1) { nodes { issueCount closedIssueCount estimatedScope closedEstimate } } } }';
    const none = { issueCount: 0, closedIssueCount: 0, estimatedScope: 0, closedEstimate: 0 };
    expect(dataOf(await world.ask(query)).team).toEqual({ deliveries: { nodes: [none] } });
  });
});

describe('a team', () => {
  it('lists its statuses by position', async () => {
    const data = dataOf(await world.ask('{ team(code: "ENG") { statuses { position } } }'));
    expect(data.team).toEqual({ statuses: [0, 1, 2, 3, 4].map((position) => ({ position })) });
  });

  it('has its default repository, or null', async () => {
    const query =
      '{ a: team(code: "ENG") { defaultRepository { externalRepositoryName } } b: team(code: "OPS") { defaultRepository { id } } }';
    expect(dataOf(await world.ask(query))).toEqual({
      a: { defaultRepository: { externalRepositoryName: 'apí' } },
      b: { defaultRepository: null },
    });
  });
});

describe('codes', () => {
  it('list each code table by the values of its enum, and the codes of errors', async () => {
    const { codes } = dataOf(
      await world.ask('{ codes { name entries { name code description } } }', {}, null),
    ) as { codes: Table[] };
    expect(codes.map(({ name }) => name)).toEqual([...Object.keys(codeTables), 'errorCode', 'eventType']);
    const enums = Object.values(schema.getTypeMap()).filter(isEnumType);
    for (const [table, known] of Object.entries(codeTables)) {
      const published = codes.find(({ name }) => name === table)?.entries ?? [];
      expect(published.map(({ name }) => name)).toEqual(Object.keys(known));
      const of = enums.find(({ extensions }) => extensions.codeTable === table);
      const values = of?.getValues().map(({ name }) => name) ?? [];
      expect(values.toSorted()).toEqual(published.map(({ name }) => name.toUpperCase()).toSorted());
    }
    const errors = codes.find(({ name }) => name === 'errorCode')?.entries ?? [];
    expect(errors).toEqual(
      Object.entries(errorCodes).map(([name, { status, meaning }]) => ({
        name,
        code: status,
        description: meaning,
      })),
    );
    const entries = codes.find(({ name }) => name === 'eventType')?.entries ?? [];
    expect(entries.map(({ name }) => name)).toEqual(eventTypes);
  });
});

interface Table {
  name: string;
  entries: { name: string; code: number | null; description: string }[];
}
