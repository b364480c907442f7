// @own-process, because it adds types to the schema.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'graphql';
import { chooseOperation } from '../../src/executor/run/execute.ts';
import { fragmentsOf } from '../../src/executor/selections/operation.ts';
import { checkScopes } from '../../src/executor/selections/scope-rule.ts';
import { memberRole, principalKind } from '../../src/model/codes.ts';
import { scopes } from '../../src/resolvers/context.ts';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { byId } from '../../src/resolvers/keys.ts';
import { builder } from '../../src/schema/builder/builder.ts';
import { type Entity, entity } from '../../src/schema/builder/entity.ts';
import { mutation } from '../../src/schema/builder/mutation.ts';
import { via } from '../../src/schema/builder/references.ts';
import '../../src/schema/builder/fields.ts';
import '../../src/schema/builder/lists.ts';
import '../../src/schema/builder/scalars.ts';
import { Member } from '../../src/schema/members.ts';
import type { RoleCell } from './role-cells.ts';

// Two types as a newcomer adds them, with every kind of field that leads to rows: one with the option, one without. They are declared
// before the schema is built, and no row of them is read.

type Table = 'agentInstallation';
interface Declared {
  name: 'Secret' | 'Notice';
  table: Table;
  prefix: 'app' | 'installation';
  managersOnly?: string;
}

const description = 'A part of this test.';
const key = 'agentUserAccountId';
const parentKey = 'userAccountId';

function declare(
  { name, ...options }: Declared,
  filter?: Parameters<typeof entity<Table>>[1]['filter'],
): Entity<Table> {
  const lower = name.toLowerCase();
  const declared: Entity<Table> = entity(name, {
    ...options,
    singular: lower,
    plural: `${lower}s`,
    description,
    scope: 'members:read',
    orders: { CREATED: { column: 'createdUtc', kind: 'time', nullable: false } },
    defaultOrder: { field: 'CREATED', direction: 'asc' },
    filter: (f) => ({ id: f.id(options.prefix), ...filter?.(f) }),
  });
  declared.implement((t) => ({
    applicationId: t.exposeString('applicationId', { description }),
  }));
  builder.queryFields((t) => ({
    [`${lower}s`]: t.all(declared, { description }),
    [`${lower}Page`]: t.source({
      type: declared.connection(),
      scope: 'members:read',
      description,
      load: () => Promise.reject(new Error('Nothing is read.')),
    }),
    [lower]: t.byKey(declared, {
      argument: 'id',
      argumentDescription: 'Its id.',
      scope: 'members:read',
      description,
      lookup: (id) => byId(options.prefix, id),
    }),
  }));
  const orderBy = [{ column: 'createdUtc', direction: 'asc' }] as const;
  builder.objectFields(Member.ref, (t) => ({
    [`${lower}s`]: t.children(declared, { key, parentKey, description }),
    [`${lower}List`]: t.list(declared, { key, parentKey, orderBy, description }),
    [`${lower}Names`]: t.listOf(declared, { key, parentKey, orderBy, column: 'applicationId', description }),
    [`${lower}Count`]: t.count(declared, { key, parentKey, filter: { all: [] }, description }),
    [`${lower}Sum`]: t.sums(options.table, { key, columns: ['isDefault'], compute: () => 0, description }),
    [`has${name}`]: t.exists(options.table, { key, viewer: key, description }),
    [`one${name}`]: t.one(declared, { key, description }),
    [`its${name}`]: t.reference(declared, 'id', { nullable: true, description }),
    [`${lower}Text`]: t.computed({
      type: 'String',
      columns: [],
      references: { it: via(declared, 'id', ['applicationId']) },
      compute: (_row, { it: row }) => row?.applicationId,
      description,
    }),
  }));
  const input = builder.inputType(`${name}CreateInput`, {
    description,
    fields: (t) => ({ name: t.string({ required: true, description }) }),
  });
  const payload = builder.objectRef<{ made: never }>(`${name}CreatePayload`).implement({
    description,
    scope: 'inherited',
    fields: (t) => ({ made: t.expose('made', { type: declared.ref, description }) }),
  });
  mutation(`${lower}Create`, input, payload, () => Promise.reject(new Error('Nothing is written.')), {
    description,
    scope: 'members:read',
    events: { none: 'it writes nothing' },
  });
  return declared;
}

const Secret = declare({
  name: 'Secret',
  table: 'agentInstallation',
  prefix: 'installation',
  managersOnly: 'secrets',
});
// Another table, because the option restricts a table as well. Its columns do not matter here.
const Notice = declare({ name: 'Notice', table: 'comment' as Table, prefix: 'app' }, (f) => ({
  secret: { ...f.reference(Secret, 'id'), shownBy: 'applicationId' },
}));

let refusalOf: (cell: RoleCell, role: number) => string | undefined;
let cellsOf: (of: Entity<Table>) => RoleCell[];

beforeAll(async () => {
  const { schema } = await import('../../src/schema/index.ts');
  const cells = await import('./role-cells.ts');
  cellsOf = (declared) =>
    cells.cellsOf(declared as never, ({ of: prefix = 'issue' }) => encodeId(prefix, newUuid()));
  refusalOf = ({ query }, role) => {
    const document = parse(query);
    const operation = chooseOperation(document, undefined);
    const source = { schema, operation, fragments: fragmentsOf(document), variables: {} };
    try {
      checkScopes(source, { ...somebody, role });
      return undefined;
    } catch (error) {
      return String(error);
    }
  };
});

const somebody = {
  workspaceId: '',
  userAccountId: '',
  memberId: '',
  displayName: '',
  principalKind: principalKind.user,
  tokenId: '',
  scopes: new Set(scopes),
  expiresUtc: null,
};

it.each([
  'query … Query.secrets',
  'query … Query.secret',
  'query … Query.secretPage',
  'query … Secret.applicationId',
  'query … SecretConnection.totalCount',
  'query … SecretEdge.cursor',
  'node … Member.secrets',
  'node … Member.secretList',
  'node … Member.secretNames',
  'node … Member.secretCount',
  'node … Member.secretSum',
  'node … Member.hasSecret',
  'node … Member.oneSecret',
  'node … Member.itsSecret',
  'node … Member.secretText',
  'node … Secret.id',
  'node of another type … Secret.id',
  'mutation … SecretCreatePayload.made',
  'Query.notices(filter: { secret: {} })',
  'Member.notices(filter: { not: { secret: {} } })',
])('the paths to a new type include %s', (at) => {
  expect(cellsOf(Secret).map((cell) => cell.at)).toContain(at);
});

describe.each(['member', 'guest'] as const)('a %s', (role) => {
  it('is refused on every path to a type with the option', () => {
    for (const cell of cellsOf(Secret)) {
      const does = cell.operation === 'mutation' ? 'manage' : 'read';
      expect([cell.at, refusalOf(cell, memberRole[role])]).toEqual([
        cell.at,
        `AppError: Only owners and admins may ${does} secrets.`,
      ]);
    }
  });

  it('is not refused on any path to the same type without the option', () => {
    const cells = cellsOf(Notice);
    expect(cells.length).toBeGreaterThan(20);
    for (const cell of cells)
      expect([cell.at, refusalOf(cell, memberRole[role])]).toEqual([cell.at, undefined]);
  });
});

it.each(['owner', 'admin'] as const)('an %s is not refused on any path to a type with the option', (role) => {
  for (const cell of cellsOf(Secret))
    expect([cell.at, refusalOf(cell, memberRole[role])]).toEqual([cell.at, undefined]);
});
