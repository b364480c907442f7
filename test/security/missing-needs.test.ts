// @own-process, because it adds a type to the schema.
import { describe, expect, it } from '@jest/globals';
import SchemaBuilder from '@pothos/core';
import { builder } from '../../src/schema/builder/builder.ts';
import { type Entity, entity } from '../../src/schema/builder/entity.ts';
import '../../src/schema/builder/fields.ts';
import '../../src/schema/builder/lists.ts';
import '../../src/schema/builder/scalars.ts';

const description = 'A part of this test.';

/** A schema of its own, with the plugin that declares what fields require. */
function emptySchema() {
  return new SchemaBuilder({ plugins: ['scopes'], scopeAuth: { authScopes: () => ({}) } });
}

describe('the build of the schema', () => {
  it('refuses a type that declares no scope', () => {
    const own = emptySchema();
    const Office = own.objectRef<{ name: string }>('Office');
    // @ts-expect-error The compiler reports it as well.
    Office.implement({ fields: (t) => ({ name: t.exposeString('name', {}) }) });
    own.queryType({ fields: (t) => ({ office: t.field({ type: Office, scope: 'token', resolve: never }) }) });
    expect(() => own.toSchema()).toThrow(
      "Office.name has no scope. It or its type must declare one, if only 'public' or 'token'.",
    );
  });

  it('refuses a root field that declares no scope', () => {
    const own = emptySchema();
    own.queryType({ fields: (t) => ({ offices: t.int({ resolve: never }) }) });
    expect(() => own.toSchema()).toThrow('Query.offices has no scope.');
  });

  it('refuses a field that does not say what its filter requires', () => {
    const own = emptySchema();
    const OfficeFilter = own.inputType('OfficeFilter', {
      extensions: { isFilter: true },
      fields: (t) => ({ name: t.string() }),
    });
    own.queryType({
      fields: (t) => ({
        officeCount: t.int({
          scope: 'token',
          args: { filter: t.arg({ type: OfficeFilter }) },
          resolve: never,
        }),
      }),
    });
    expect(() => own.toSchema()).toThrow('Query.officeCount has the filter filter, but no needsOfArguments');
  });

  it('refuses a filter that tests what no field of its type shows', () => {
    const Office: Entity<'label'> = entity('Office', {
      table: 'label',
      singular: 'office',
      plural: 'offices',
      description,
      scope: 'members:read',
      orders: { NAME: { column: 'nameFold', kind: 'text', nullable: false } },
      defaultOrder: { field: 'NAME', direction: 'asc' },
      filter: (f) => ({ name: f.text('nameFold'), city: f.text('nameFold') }),
    });
    Office.implement((t) => ({ name: t.exposeString('name', { description }) }));
    builder.queryType({ fields: (t) => ({ offices: t.all(Office, { description }) }) });
    expect(() => builder.toSchema()).toThrow('There is no field Office.city that declares a scope.');
    expect(() => Office.filterNeeds({ street: { eq: 'Kade' } })).toThrow('Office has no filter street.');
  });
});

it('a type that inherits its scope lets whoever may read the field that returns it read its fields', () => {
  const own = emptySchema();
  const Office = own.objectRef<{ name: string }>('Office').implement({
    scope: 'inherited',
    fields: (t) => ({ name: t.exposeString('name', {}) }),
  });
  own.queryType({ fields: (t) => ({ office: t.field({ type: Office, scope: 'token', resolve: never }) }) });
  const { Query: query, Office: office } = own.toSchema().getTypeMap();
  const scopesOf = (type: typeof query) =>
    type && 'getFields' in type && Object.values(type.getFields()).map(({ extensions }) => extensions.scope);
  expect([scopesOf(query), scopesOf(office)]).toEqual([['token'], [undefined]]);
});

function never(): never {
  throw new Error('Nothing is read.');
}
