import { expect, it } from '@jest/globals';
import { getNamedType, isInputObjectType } from 'graphql';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { schema } from '../../src/schema/index.ts';
import { objectFields } from '../graph/schema-walk.ts';
import { namingOf } from './positions.ts';

// The isolation matrix tries the declared positions, so every argument that names an object must declare it.

/** Every argument and input field except comparators, whose filter declares what they name. */
const inputs = [
  ...objectFields.flatMap(({ coordinate, field }) =>
    field.args.map((holder) => ({ at: `${coordinate}(${holder.name})`, holder })),
  ),
  ...Object.values(schema.getTypeMap())
    .filter(isInputObjectType)
    .filter(({ name }) => !['IDFilter', 'StringFilter'].includes(name))
    .flatMap((type) =>
      Object.values(type.getFields()).map((holder) => ({ at: `${type.name}.${holder.name}`, holder })),
    ),
];
const namesNothing = inputs.filter(({ holder }) => namingOf(holder) === undefined);

it('every argument that takes an id declares what it names', () => {
  const undeclared = namesNothing.filter(({ holder }) =>
    ['ID', 'IDFilter'].includes(getNamedType(holder.type).name),
  );
  expect(undeclared.map(({ at }) => at)).toEqual([]);
});

it('every text argument called a key, a code or a cursor declares what it names', () => {
  const undeclared = namesNothing.filter(
    ({ holder }) =>
      ['String', 'StringFilter'].includes(getNamedType(holder.type).name) &&
      /(key|code|cursor|after|before|ids?)s?$/i.test(holder.name),
  );
  // An agent's key for a suggested next step names no object of the workspace.
  expect(undeclared.map(({ at }) => at)).toEqual(['FollowUpActionInput.key']);
});

it('every REST parameter and field in the format of an id, a key or a cursor declares what it names', () => {
  const undeclared = routeTable.flatMap((route) => {
    const parameters = Object.entries(route.parameters).map(([name, parameter]) => {
      const value = parameter.kind === 'many' || parameter.kind === 'default' ? parameter.value : parameter;
      return { name, schema: parameter.schema, names: 'names' in value && value.names };
    });
    const fields = Object.entries(route.body?.fields ?? {}).map(([name, field]) => {
      const value = field.kind === 'required' ? field.value : field;
      return value.kind === 'value'
        ? { name, schema: value.schema, names: value.names }
        : { name, schema: {}, names: undefined };
    });
    return [...parameters, ...fields]
      .filter(({ names }) => !names)
      .filter(
        ({ name, schema }) =>
          /"\^[a-z]+_\[0-7\]/.test(JSON.stringify(schema)) || /(_id|key|code|cursor)$/i.test(name),
      )
      .map(({ name }) => `${route.method} ${route.path} ${name}`);
  });
  // A code of the service itself, and a key that the client invents.
  expect([...new Set(undeclared)].filter((at) => !at.endsWith('Idempotency-Key'))).toEqual([
    expect.stringMatching(/^GET \/v1\/meta\/.*code$/i),
  ]);
});
