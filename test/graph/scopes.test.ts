import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getNamedType, isLeafType } from 'graphql';
import { encodeId } from '../../src/resolvers/ids.ts';
import { type Scope, scopes as allScopes } from '../../src/resolvers/context.ts';
import { type FieldOf, objectFields, objectType, scopeOf, selectionOf } from './schema-walk.ts';
import type { ModelObject } from './model.ts';
import { codesOf, dataOf } from './graph-answer.ts';
import { sharedWorld, type SharedWorld } from './shared-world.ts';
import { dayArguments, trendArguments } from './trend-arguments.ts';

let world: SharedWorld;
/** Tokens with all scopes but some, by the missing scopes. */
const tokensWithout = new Map<string, string>();

beforeAll(async () => {
  world = await sharedWorld();
  for (const missing of new Set(guarded.map(({ scopes }) => scopes.join(' ')))) {
    tokensWithout.set(
      missing,
      await world.token(allScopes.filter((scope) => !missing.split(' ').includes(scope))),
    );
  }
});
afterAll(() => world.stop());

interface Guarded extends FieldOf {
  /** Any one of these scopes is sufficient. */
  scopes: readonly Scope[];
}

/** Mutations have separate tests; fields of a connection are read below the field that returns it. */
const readFields = objectFields.filter(({ parent }) => parent !== 'Mutation' && !parent.endsWith('Payload'));
const guarded: readonly Guarded[] = readFields.flatMap((each) => {
  const scope = scopeOf(each.field);
  return scope === undefined || scope === 'public' || scope === 'token'
    ? []
    : [{ ...each, scopes: [scope].flat() }];
});

it('most fields of the graph need a scope', () => {
  expect(guarded.length).toBeGreaterThan(200);
});

it('only three roots need no scope, and no field below them does without one', () => {
  const open = objectFields.filter(({ field }) => scopeOf(field) === 'public');
  expect(open.map(({ coordinate }) => coordinate)).toEqual([
    'Query.codes',
    'Query.health',
    'Query.readiness',
  ]);
});

/** The fields of a type that need the same scopes. One operation reads them all, and its refusal must name each. */
const groups = [
  ...Map.groupBy(guarded, ({ parent, scopes }) => `${parent} without ${scopes.join(' or ')}`),
].map(([title, fields]) => ({
  title,
  fields,
  scopes: fields[0]?.scopes ?? [],
  parent: fields[0]?.parent ?? '',
}));

describe('a token that lacks the scope of a field', () => {
  it.each(groups)('has the whole operation refused: $title', async ({ parent, fields, scopes }) => {
    const { query, variables } = requestFor(parent, fields);
    const answer = await ask(query, variables, tokensWithout.get(scopes.join(' ')) ?? '');
    expect(answer.body.data ?? null).toBeNull();
    expect(codesOf(answer)).toEqual(['FORBIDDEN']);
    const [error] = answer.body.errors ?? [];
    // A long message is cut, but the list beside it names each field.
    expect(error?.message).toMatch(/^The access token lacks scopes: \S+ needs /);
    expect(error?.extensions?.errors).toEqual(
      expect.arrayContaining(
        fields.map(({ coordinate }) => ({ field: coordinate, message: `needs ${scopes.join(' or ')}` })),
      ),
    );
  });

  it.each(groups)(
    'needs only one of several sufficient scopes: $title',
    async ({ parent, fields, scopes }) => {
      const { query, variables } = requestFor(parent, fields);
      for (const scope of scopes) {
        // The path may need further scopes, but the fields themselves must not be listed as missing a scope.
        const { body } = await ask(query, variables, await tokenWith([scope]));
        const missing = (body.errors?.[0]?.extensions?.errors ?? []) as { field: string }[];
        const own = missing.filter(({ field }) => fields.some(({ coordinate }) => coordinate === field));
        expect(own).toEqual([]);
      }
    },
  );

  it('may select the field if @skip or @include excludes it', async () => {
    const token = await tokenWith(['teams:read']);
    const query = `query ($no: Boolean! = false) {
      teams { nodes { code members @include(if: $no) { totalCount } projects @skip(if: true) { totalCount } ...Issues @include(if: $no) } }
    }
    fragment Issues on Team { issues { totalCount } }`;
    expect(codesOf(await world.ask(query, {}, token))).toEqual([]);
    expect(codesOf(await world.ask(query, { no: true }, token))).toEqual(['FORBIDDEN']);
  });

  it('cannot get around the check by a fragment, an alias or another operation of the document', async () => {
    const token = await tokenWith(['teams:read']);
    const inFragment =
      'query { teams { nodes { ...on Team { ...M } } } } fragment M on Team { free: members { totalCount } }';
    expect(codesOf(await world.ask(inFragment, {}, token))).toEqual(['FORBIDDEN']);
    const unused = 'query { teams { nodes { id } } } fragment M on Team { members { totalCount } }';
    expect(codesOf(await world.ask(unused, {}, token))).toEqual(['GRAPHQL_VALIDATION_FAILED']);
  });
});

describe('node and nodes', () => {
  const open = new Set(['Workspace', 'IssueStatus', 'Label', 'Delivery', 'ProjectStatus']);
  const nodeTypes = [
    ...new Set(objectFields.filter(({ field }) => field.name === 'id').map(({ parent }) => parent)),
  ]
    .filter((name) => objectType(name).getInterfaces().length > 0)
    .filter((name) => name !== 'AccessToken');

  it.each(nodeTypes)('need the scope of the type of the id: %s', async (typeName) => {
    const needed = scopeOfDirectory[typeName] ?? 'issues:read';
    const [object] = world.model.all(typeName);
    for (const query of [
      'query ($id: ID!) { node(id: $id) { id } }',
      'query ($id: ID!) { nodes(ids: [$id]) { id } }',
      `query { node(id: "${String(object?.id)}") { id } }`,
    ]) {
      const variables = query.includes('$id') ? { id: object?.id } : {};
      const without = await world.ask(
        query,
        variables,
        await tokenWith(allScopes.filter((scope) => scope !== needed)),
      );
      expect([typeName, codesOf(without)]).toEqual([typeName, open.has(typeName) ? [] : ['FORBIDDEN']]);
      const alone = open.has(typeName) ? 'workspace:admin' : needed;
      expect([typeName, codesOf(await world.ask(query, variables, await tokenWith([alone])))]).toEqual([
        typeName,
        [],
      ]);
    }
  });
});

describe('any token', () => {
  // The objects that the specification embeds (contract.md, "Scopes").
  const cards = {
    Team: 'id code name iconCss color',
    Project: 'id teamId name key iconCss color',
    Member: 'id userAccountId displayName avatarUrl principalKind',
    IssueStatus: selectionOf('IssueStatus'),
    Label: selectionOf('Label'),
    Delivery: selectionOf('Delivery'),
  } as const;

  it('reads the cards of the objects that a readable issue refers to', async () => {
    const query = `query ($id: ID!) { node(id: $id) { ... on Issue {
      team { ${cards.Team} } project { ${cards.Project} } reporter { ${cards.Member} } primaryAssignee { ${cards.Member} }
      assignees { ${cards.Member} } status { ${cards.IssueStatus} } labels { ${cards.Label} } delivery { ${cards.Delivery} }
    } } }`;
    const issue = world.model.all('Issue').find(({ projectId, deliveryId }) => projectId && deliveryId);
    const { node } = dataOf(await world.ask(query, { id: issue?.id }, await tokenWith(['issues:read'])));
    const nameOf = (typeName: string, id: unknown) => world.model.find(typeName, id)?.name;
    expect(node).toMatchObject({
      team: { name: nameOf('Team', issue?.teamId) },
      project: { name: nameOf('Project', issue?.projectId) },
      status: { name: nameOf('IssueStatus', issue?.statusId) },
      delivery: { name: nameOf('Delivery', issue?.deliveryId) },
      reporter: { displayName: world.model.member(issue?.reporterUserAccountId)?.displayName },
    });
  });

  it('reads itself, its member, the workspace and its labels and project statuses', async () => {
    const token = await tokenWith(['workspace:admin']);
    const data = dataOf(
      await world.ask(
        `{ viewer { scopes accessToken { ${selectionOf('AccessToken')} } member { ${cards.Member} } workspace { id name createdUtc } }
           workspace { labels { totalCount nodes { ${cards.Label} } } projectStatuses { nodes { ${selectionOf('ProjectStatus')} } } }
           accessTokens { nodes { id } } }`,
        {},
        token,
      ),
    );
    const owner = world.model.member(encodeId('user', world.workspace.ownerUserAccountId));
    expect(data).toMatchObject({
      viewer: {
        scopes: ['workspace:admin'],
        member: { userAccountId: owner?.userAccountId, displayName: owner?.displayName },
        workspace: { id: firstOf('Workspace').id },
      },
      workspace: { labels: { totalCount: world.model.all('Label').length } },
    });
  });

  it.each(['Team', 'Project', 'Member'] as const)('reads no more of a %s than its card', (typeName) => {
    const free = Object.values(objectType(typeName).getFields())
      .filter((field) => scopeOf(field) === 'token')
      .map(({ name }) => name);
    const labelsOrDeliveries =
      typeName === 'Member' ? [] : typeName === 'Team' ? ['labels', 'deliveries'] : ['labels'];
    expect(free.toSorted()).toEqual([...cards[typeName].split(' '), ...labelsOrDeliveries].toSorted());
  });
});

describe('without a token', () => {
  it('only health, readiness, codes and introspection are answered', async () => {
    const open =
      '{ health { status } readiness { status } codes { name entries { name code description } } __typename __schema { queryType { name } } }';
    dataOf(await world.ask(open, {}, null));
    for (const root of readFields.filter(({ parent }) => parent === 'Query')) {
      const { coordinate, field } = root;
      if (scopeOf(field) === 'public') continue;
      const answer = await world.ask(`{ ${rootSelection(root)} }`, {}, null);
      expect([coordinate, answer.status, codesOf(answer)]).toEqual([coordinate, 401, ['UNAUTHENTICATED']]);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
      const mixed = await world.ask(`{ health { status } ${rootSelection(root)} }`, {}, null);
      expect([coordinate, mixed.status]).toEqual([coordinate, 401]);
    }
  });
});

const scopeOfDirectory: Readonly<Record<string, Scope>> = {
  Team: 'teams:read',
  RepositoryContext: 'teams:read',
  Project: 'projects:read',
  ProjectLink: 'projects:read',
  Member: 'members:read',
  AuditEntry: 'workspace:admin',
  Webhook: 'workspace:admin',
  WebhookDelivery: 'workspace:admin',
};

const tokens = new Map<string, string>();

async function tokenWith(scopes: readonly Scope[]): Promise<string> {
  const name = scopes.join(' ');
  const token = tokens.get(name) ?? (await world.token(scopes));
  tokens.set(name, token);
  return token;
}

/** Sends an operation. A subscription with sufficient scopes is refused for its Accept header. */
function ask(query: string, variables: Record<string, unknown>, token: string) {
  return world.app.graphql(query, variables, { token, headers: { Accept: 'application/json' } });
}

interface ReadRequest {
  query: string;
  variables: Record<string, unknown>;
}

/** An operation that reads fields of a type: of a root, by `node`, or through a list for fields of connections. */
function requestFor(parent: string, fields: readonly FieldOf[]): ReadRequest {
  if (parent === 'Query') return { query: `{ ${fields.map(rootSelection).join(' ')} }`, variables: {} };
  // A subscription has one root field.
  if (parent === 'Subscription')
    return { query: `subscription { ${fields.map(rootSelection).join(' ')} }`, variables: {} };
  const selection = fields
    .map(({ field }) => `${field.name}${dayArguments(field.args)}${selectionBelow(field)}`)
    .join(' ');
  if (/(Connection|Edge)$/.test(parent)) {
    const row = parent.replace(/(Connection|Edge)$/, '');
    const selected = parent.endsWith('Edge') ? `edges { ${selection} }` : selection;
    const list = readFields.find((each) => getNamedType(each.field.type).name === `${row}Connection`);
    if (!list) throw new Error(`There is no list of ${row}.`);
    const query = `${list.field.name} { ${selected} }`;
    return list.parent === 'Query'
      ? { query: `{ ${query} }`, variables: {} }
      : nodeRequest(list.parent, query);
  }
  if (objectType(parent).getInterfaces().length > 0) return nodeRequest(parent, selection);
  if (parent === 'Change')
    return { query: `{ changes(first: 1) { nodes { ${selection} } } }`, variables: {} };
  if (parent === 'IssueListEvent')
    return { query: `subscription { issues { ${selection} } }`, variables: {} };
  if (parent === 'RoleAssignment') return nodeRequest('Issue', `roleAssignments { ${selection} }`);
  throw new Error(`The test knows no path to ${parent}.`);
}

function rootSelection({ coordinate, field }: FieldOf): string {
  const args = field.args
    .filter(({ type }) => String(type).endsWith('!'))
    .map(
      ({ name }) =>
        `${name}: ${trendArguments[name] ?? rootArguments[`${field.name}.${name}`]?.() ?? raiseUnknown(`${coordinate}(${name}:)`)}`,
    );
  return `${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''}${selectionBelow(field)}`;
}

const quoted = (typeName: string, field: string) => () => JSON.stringify(firstOf(typeName)[field]);
const rootArguments: Readonly<Record<string, () => string>> = {
  'issue.key': quoted('Issue', 'key'),
  'team.code': quoted('Team', 'code'),
  'project.key': quoted('Project', 'key'),
  'member.id': quoted('Member', 'id'),
  'node.id': quoted('Team', 'id'),
  'nodes.ids': () => `[${quoted('Team', 'id')()}]`,
  'issueStats.groupBy': () => '[STATUS]',
  'issueTrend.groupBy': () => '[STATUS]',
};

function raiseUnknown(what: string): never {
  throw new Error(`The test has no value for ${what}.`);
}

function firstOf(typeName: string): ModelObject {
  const [object] = world.model.all(typeName);
  return object ?? raiseUnknown(typeName);
}

function nodeRequest(typeName: string, selection: string): ReadRequest {
  return {
    query: `query ($id: ID!) { node(id: $id) { ... on ${typeName} { ${selection} } } }`,
    variables: { id: firstOf(typeName).id },
  };
}

/** `{ __typename }` for a field of an object type, which needs no scope. */
function selectionBelow(field: FieldOf['field']): string {
  return isLeafType(getNamedType(field.type)) ? '' : ' { __typename }';
}
