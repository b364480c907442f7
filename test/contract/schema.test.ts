import { describe, expect, it } from '@jest/globals';
import {
  type GraphQLNamedType,
  type GraphQLOutputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
} from 'graphql';
import {
  connectionFields,
  type FieldOf,
  inputType,
  objectFields,
  objectType,
  objectTypes,
  planOf,
  rowTypeOf,
  scopeOf,
} from '../graph/schema-walk.ts';
import { scopes } from '../../src/resolvers/context.ts';
import { schema } from '../../src/schema/index.ts';

// Each test collects all violations, so that one run shows all of them.

const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));

describe('descriptions', () => {
  it('exist for every type, field, argument, input field, enum value and directive that is not built in', () => {
    const described = [
      ...types.filter((type) => !isSpecifiedScalarType(type)).flatMap(partsOf),
      ...directiveParts(),
    ];
    expect(described.length).toBeGreaterThan(500);
    expect(described.filter(([, description]) => !description?.trim()).map(([name]) => name)).toEqual([]);
  });

  it('are sentences', () => {
    const broken = types
      .flatMap(partsOf)
      .filter(([name, text]) => !isSentence(text ?? '') && !name.includes('__'));
    expect(broken).toEqual([]);
  });

  it('of deprecated elements say what replaces them', () => {
    const deprecated = objectFields.filter(({ field }) => field.deprecationReason != null);
    expect(deprecated.filter(({ field }) => !field.deprecationReason?.includes('`')).map(name)).toEqual([]);
  });
});

describe('declarations', () => {
  /** Fields that no executor needs a declaration for, each with the reason. */
  const exceptions: Readonly<Record<string, RegExp>> = {
    'a part of a connection: the page of the field above it':
      /^\w+Connection\.(edges|nodes|pageInfo|totalCount|totalCountIsExact)$/,
    'a part of an edge: the row and its cursor': /^\w+Edge\.(node|cursor)$/,
    'dispatches on the kind of the id': /^Query\.nodes?$/,
    'a mutation runs its resolver; declarations only read what it returns': /^Mutation\.|Payload\./,
  };

  it('describe every field of every object as data', () => {
    const undeclared = objectFields.filter(
      ({ field }) => !planOf(field) && !field.extensions.pothosExposedField,
    );
    const unexplained = undeclared.filter(
      ({ coordinate }) => !Object.values(exceptions).some((pattern) => pattern.test(coordinate)),
    );
    expect(unexplained.map(name)).toEqual([]);
  });

  it('use a connection for every list without a fixed bound', () => {
    const undeclared = connectionFields.filter(({ field }) => planOf(field)?.kind !== 'connection');
    // The role of the viewer decides whose tokens are listed, so a resolver returns them.
    expect(undeclared.map(name)).toEqual(['Query.accessTokens']);
  });

  it('give every root field a scope', () => {
    const roots = objectFields.filter(({ parent }) => parent === 'Query' || parent === 'Mutation');
    const known = new Set<unknown>(['public', 'token', ...scopes]);
    const withoutScope = roots.filter(
      ({ field }) => ![scopeOf(field)].flat().every((scope) => known.has(scope)),
    );
    expect(withoutScope.map(name)).toEqual([]);
  });

  it('make public only the fields that read nothing from a workspace', () => {
    const open = objectFields.filter(({ field }) => scopeOf(field) === 'public');
    expect(open.map(name).toSorted()).toEqual(['Query.codes', 'Query.health', 'Query.readiness']);
  });
});

describe('names and shapes', () => {
  it('follow the spelling of GraphQL: TypeName, fieldName, argumentName, VALUE', () => {
    const misspelled = types.flatMap(spellings).filter(({ text, pattern }) => !pattern.test(text));
    expect(misspelled.map(({ text }) => text)).toEqual([]);
  });

  it('include only the declared scalars, and JSON nowhere', () => {
    const own = types.filter((type) => isScalarType(type) && !isSpecifiedScalarType(type));
    expect(own.map((type) => type.name).toSorted()).toEqual(['Date', 'DateTime', 'RichText', 'URL']);
    // The builder lists Float with the standard scalars whether or not something is one.
    expect(objectFields.filter(({ field }) => getNamedType(field.type).name === 'Float').map(name)).toEqual(
      [],
    );
  });

  it.each([
    ['DateTime', /Utc$/],
    ['Date', /(Date|On)$/],
    ['URL', /(^url|Url)$/],
    // A payload may say in a word what happened, as `created`; `totalCountIsExact` is beside the field that it is about.
    ['Boolean', /^(is|has|can|viewerCan)[A-Z]|Enabled$|ed$|IsExact$/],
  ])('say %s in the name of a field', (scalar, pattern) => {
    const ofType = objectFields.filter(({ field }) => getNamedType(field.type).name === scalar);
    expect(ofType.filter(({ field }) => !pattern.test(field.name)).map(name)).toEqual([]);
  });

  it('of id fields end in Id or Ids, and the id of the object itself is called id', () => {
    const ids = objectFields.filter(({ field }) => getNamedType(field.type).name === 'ID');
    const pattern = ({ field }: FieldOf) => (isListed(field.type) ? /Ids$/ : /(^id|Id)$/);
    expect(ids.filter((each) => !pattern(each).test(each.field.name)).map(name)).toEqual([]);
    const doubled = ids.filter(
      ({ parent, field }) => field.name.toLowerCase() === `${parent.toLowerCase()}id`,
    );
    expect(doubled.map(name)).toEqual([]);
  });

  it('offer the id of every referenced object in a field of its own', () => {
    const missing = objectFields.filter(({ parent, field }) => {
      const plan = planOf(field);
      if (plan?.kind !== 'reference' || !objectType(parent).extensions.entity) return false;
      return !objectFields.some((other) => {
        const beside = planOf(other.field);
        // The id of something whose type follows from another column is computed from both.
        const columns =
          beside?.kind === 'computed' && getNamedType(other.field.type).name === 'ID' ? beside.columns : [];
        const isOfKey = beside?.kind === 'id' ? beside.column === plan.key : columns.includes(plan.key);
        return other.parent === parent && isOfKey;
      });
    });
    expect(missing.map(name)).toEqual([]);
  });

  it('of every entity include the Node interface', () => {
    // The scope of a change depends on its event, so only `changes` reads changes.
    const plain = new Set(['RoleAssignment', 'Change']);
    const entities = objectTypes.filter((type) => type.extensions.entity && !plain.has(type.name));
    expect(entities.map((type) => type.name).toSorted()).toEqual(mainTypes);
    const withoutNode = entities.filter((type) => !type.getInterfaces().some(({ name }) => name === 'Node'));
    expect(withoutNode.map((type) => type.name)).toEqual([]);
  });

  it('of lists have elements that are never null, except in `nodes`, whose elements match the ids by position', () => {
    const nullable = objectFields.filter(
      ({ field }) => isListed(field.type) && !/^\[\w+!\]!$/.test(String(field.type)),
    );
    expect(nullable.map(name)).toEqual(['Query.nodes']);
  });
});

describe('connections', () => {
  it.each(connectionFields)('$coordinate takes the same arguments as all others', ({ field, ...list }) => {
    const row = rowTypeOf({ field, ...list });
    const args = Object.fromEntries(field.args.map((argument) => [argument.name, String(argument.type)]));
    const page = { first: 'Int', after: 'String', last: 'Int', before: 'String' };
    expect(args).toEqual({ ...page, filter: `${row}Filter`, orderBy: `${row}Order` });
    expect(String(field.type)).toBe(`${row}Connection!`);
  });

  const rows = [...new Set(connectionFields.map(rowTypeOf))];

  it.each(rows)(
    'those of %s have edges, nodes, pageInfo and a total, and one order with a direction',
    (row) => {
      expect(fieldTypes(objectType(`${row}Connection`))).toEqual({
        edges: `[${row}Edge!]!`,
        nodes: `[${row}!]!`,
        pageInfo: 'PageInfo!',
        totalCount: 'Int!',
        totalCountIsExact: 'Boolean!',
      });
      expect(fieldTypes(objectType(`${row}Edge`))).toEqual({ cursor: 'String!', node: `${row}!` });
      expect(fieldTypes(inputType(`${row}Order`))).toEqual({
        field: `${row}OrderField!`,
        direction: 'SortDirection',
      });
    },
  );

  it.each(rows)('those of %s are filtered by fields, under the names of the fields', (row) => {
    const { and, or, not, ...tested } = fieldTypes(inputType(`${row}Filter`));
    expect({ and, or, not }).toEqual({ and: `[${row}Filter!]`, or: `[${row}Filter!]`, not: `${row}Filter` });
    const fields = objectType(row).getFields();
    const unexpected = Object.entries(tested).filter(
      ([name, filter]) => filter !== filterOf(fields[name]?.type),
    );
    expect(unexpected).toEqual([]);
  });
});

describe('mutations', () => {
  it('take one input and return a payload, both named after the mutation', () => {
    const irregular = objectFields.filter(({ parent, field }) => {
      if (parent !== 'Mutation') return false;
      const stem = `${field.name.slice(0, 1).toUpperCase()}${field.name.slice(1)}`;
      const [input, ...more] = field.args;
      return (
        more.length > 0 ||
        input?.name !== 'input' ||
        String(input.type) !== `${stem}Input!` ||
        String(field.type) !== `${stem}Payload!`
      );
    });
    expect(irregular.map(name)).toEqual([]);
  });
});

/** The types of graph.md, "Types", that show one row each. */
const mainTypes =
  `AccessToken ActivityEntry AgentThread AgentThreadMessage Attachment AuditEntry Comment Delivery Issue IssueLink
  IssueStatus Label Member Project ProjectLink ProjectStatus RepositoryContext Team Webhook WebhookDelivery Workspace`.split(
    /\s+/,
  );

function name({ coordinate }: FieldOf): string {
  return coordinate;
}

type Described = [name: string, description: string | null | undefined];

/** A type and everything in it that can be described. */
function partsOf(type: GraphQLNamedType): Described[] {
  const own: Described = [type.name, type.description];
  if (isEnumType(type))
    return [
      own,
      ...type.getValues().map((value): Described => [`${type.name}.${value.name}`, value.description]),
    ];
  if (isInputObjectType(type)) {
    return [
      own,
      ...Object.values(type.getFields()).map(
        (field): Described => [`${type.name}.${field.name}`, field.description],
      ),
    ];
  }
  if (!isObjectType(type) && !isInterfaceType(type)) return [own];
  const fields = Object.values(type.getFields()).flatMap((field): Described[] => [
    [`${type.name}.${field.name}`, field.description],
    ...field.args.map(
      (argument): Described => [`${type.name}.${field.name}(${argument.name}:)`, argument.description],
    ),
  ]);
  return [own, ...fields];
}

function directiveParts(): Described[] {
  return schema
    .getDirectives()
    .flatMap((directive): Described[] => [
      [`@${directive.name}`, directive.description],
      ...directive.args.map(
        (argument): Described => [`@${directive.name}(${argument.name}:)`, argument.description],
      ),
    ]);
}

/** Whether a text begins like a sentence or with code, and ends like a sentence. */
function isSentence(text: string): boolean {
  return /^[A-Z`\d]|^[a-z ]+; /.test(text) && /[.?]$/.test(text);
}

function spellings(type: GraphQLNamedType): { text: string; pattern: RegExp }[] {
  const camel = /^[a-z][A-Za-z0-9]*$/;
  const own = { text: type.name, pattern: /^[A-Z][A-Za-z0-9]*$/ };
  if (isEnumType(type))
    return [own, ...type.getValues().map(({ name }) => ({ text: name, pattern: /^[A-Z][A-Z0-9_]*$/ }))];
  if (isInputObjectType(type))
    return [own, ...Object.keys(type.getFields()).map((text) => ({ text, pattern: camel }))];
  if (!isObjectType(type)) return [own];
  const fields = Object.values(type.getFields());
  const names = [...fields, ...fields.flatMap(({ args }) => args)].map(({ name }) => name);
  return [own, ...names.map((text) => ({ text, pattern: camel }))];
}

function fieldTypes(type: { getFields: () => Record<string, { type: unknown }> }): Record<string, string> {
  return Object.fromEntries(
    Object.entries(type.getFields()).map(([name, field]) => [name, String(field.type)]),
  );
}

function isListed(type: GraphQLOutputType): boolean {
  return isListType(isNonNullType(type) ? type.ofType : type);
}

/** The filter of a field of that type: comparators for a leaf, the filter of an object, quantifiers for a list. */
function filterOf(type: GraphQLOutputType | undefined): string | undefined {
  if (!type) return undefined;
  const { name } = getNamedType(type);
  if (name.endsWith('Connection')) return `${name.replace(/Connection$/, '')}ListFilter`;
  return isListed(type) ? `${name}ListFilter` : `${name === 'ID' ? 'ID' : name}Filter`;
}
