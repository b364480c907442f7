import fc from 'fast-check';
import {
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLScalarType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { type IdPrefix, idPrefixes } from '../../src/resolvers/ids.ts';
import { scopes } from '../../src/resolvers/context.ts';
import { schema } from '../../src/schema/index.ts';
import { type PoolName, pooled } from './pool.ts';
import { mostly, text, url } from './rest-cases.ts';
import { anyJson, anyText, strangeTimes } from './texts.ts';

/** The variables of an operation, one for each argument of its field. */
export type GraphCase = Readonly<Record<string, unknown>>;

/** A root field, with an operation that passes all its arguments by variables and selects the leaves near it. */
export interface GraphOperation {
  readonly name: string;
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly field: GraphQLField<unknown, unknown>;
  readonly document: string;
}

const roots = [
  ['query', schema.getQueryType()],
  ['mutation', schema.getMutationType()],
  ['subscription', schema.getSubscriptionType()],
] as const;

/** Every field of Query, Mutation and Subscription. */
export const graphOperations: readonly GraphOperation[] = roots.flatMap(([kind, root]) =>
  Object.values(root?.getFields() ?? {}).map((field) => {
    const declared = field.args.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ');
    const args = field.args.map(({ name }) => `${name}: $${name}`).join(', ');
    const document = `${kind} ${declared && `(${declared})`} { ${field.name}${args && `(${args})`} ${selection(field, 2)} }`;
    return { name: `${kind} ${field.name}`, kind, field, document };
  }),
);

/** A selection of all leaves near a field, with `__typename` of each object. */
export function selection({ type }: GraphQLField<unknown, unknown>, depth: number): string {
  const named = getNamedType(type);
  if (isInterfaceType(named)) return '{ __typename id }';
  if (!isObjectType(named)) return '';
  const selections = Object.values(named.getFields())
    .filter(({ args }) => args.every(({ type: argument }) => !isNonNullType(argument)))
    .filter((field) => isLeafType(getNamedType(field.type)) || (depth > 1 && !isPage(field)))
    .map((field) => `${field.name} ${selection(field, field.name === 'issue' ? 1 : depth - 1)}`);
  return `{ __typename ${selections.join(' ')} }`;
}

function isPage({ args }: GraphQLField<unknown, unknown>): boolean {
  return args.length > 0;
}

/** Generates variables for an operation from the types of its arguments. */
export function graphCases({ field }: GraphOperation): fc.Arbitrary<GraphCase> {
  const context = { of: field.name, deletes: /Delete|Revoke/.test(field.name) };
  const usual = fields(field.args, context, 0);
  const names = fc.constantFrom(...field.args.map(({ name }) => name), 'unknown');
  return fc.oneof({ arbitrary: usual, weight: 40 }, { arbitrary: fc.dictionary(names, anyJson), weight: 1 });
}

interface ValueContext {
  /** The root field, or the input type that contains the value. */
  readonly of: string;
  readonly deletes: boolean;
}

function value(
  type: GraphQLInputType,
  name: string,
  context: ValueContext,
  depth: number,
): fc.Arbitrary<unknown> {
  if (isNonNullType(type)) return value(type.ofType, name, context, depth);
  if (isListType(type)) {
    const item = value(type.ofType, name, context, depth + 1);
    return fc.oneof(
      { arbitrary: fc.array(item, { maxLength: 3 }), weight: 12 },
      {
        arbitrary: fc
          .tuple(item, fc.constantFrom(51, 101, 251))
          .map(([one, times]) => Array.from({ length: times }, () => one)),
        weight: depth < 3 ? 1 : 0,
      },
      { arbitrary: fc.constantFrom(null, [], [null]), weight: 1 },
    );
  }
  if (isInputObjectType(type)) return mostly(object(type, context, depth), anyJson);
  if (isEnumType(type)) return mostly(fc.constantFrom(...type.getValues().map((each) => each.name)), anyJson);
  return mostly(scalar(type, name, context), fc.oneof(anyJson, anyText, fc.constant(null)));
}

const deepest = 5;

function object(type: GraphQLInputObjectType, context: ValueContext, depth: number): fc.Arbitrary<GraphCase> {
  const all = Object.values(type.getFields());
  const shallow = depth < deepest ? all : all.filter((field) => !isInputObjectType(getNamedType(field.type)));
  return fields(shallow, { ...context, of: type.name }, depth);
}

/** The required fields and a few of the others, because filters are recursive. */
function fields(
  all: readonly { readonly name: string; readonly type: GraphQLInputType }[],
  context: ValueContext,
  depth: number,
): fc.Arbitrary<GraphCase> {
  const required = all.filter((field) => isNonNullType(field.type));
  const optional = all.filter((field) => !isNonNullType(field.type));
  const entry = ({ name, type }: (typeof all)[number]) =>
    value(type, name, context, depth + 1).map((generated) => [name, generated] as const);
  const must = fc.tuple(...required.map(entry));
  if (optional.length === 0) return must.map((entries) => Object.fromEntries(entries));
  // Generated lazily, because filters are recursive.
  const may = fc
    .uniqueArray(fc.constantFrom(...optional), { maxLength: 2 })
    .chain((chosen) => fc.tuple(...chosen.map(entry)));
  return fc.tuple(must, may).map(([one, other]) => Object.fromEntries([...one, ...other]));
}

function scalar(
  { name: type }: GraphQLScalarType,
  name: string,
  context: ValueContext,
): fc.Arbitrary<unknown> {
  switch (type) {
    case 'Boolean':
      return fc.boolean();
    case 'Int':
      return fc.oneof(
        { arbitrary: fc.integer({ min: 0, max: 20 }), weight: 4 },
        { arbitrary: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), weight: 1 },
        { arbitrary: fc.constantFrom(-(2 ** 31), 2 ** 31 - 1, -1, 250, 251), weight: 1 },
      );
    case 'Date':
      if (name === 'from' || name === 'to')
        return fc.oneof(
          {
            arbitrary: fc.constantFrom(name === 'from' ? '2026-01-01' : '2026-02-28', '2026-01-31'),
            weight: 9,
          },
          { arbitrary: fc.constantFrom('1899-12-31', ...strangeTimes), weight: 1 },
        );
      return fc.constantFrom('2026-01-31', '0001-01-01', '9999-12-31', ...strangeTimes);
    case 'DateTime':
      return fc.constantFrom('2026-01-31T12:00:00Z', '2027-06-01T00:00:00.123+02:00', ...strangeTimes);
    default:
      if (name === 'timeZone')
        return fc.oneof(
          { arbitrary: fc.constantFrom('UTC', 'Europe/Berlin', 'Pacific/Apia'), weight: 9 },
          { arbitrary: fc.constantFrom('Nowhere', '+02:00', ''), weight: 1 },
        );
      return named(name, context) ?? free(name);
  }
}

function free(name: string): fc.Arbitrary<string> {
  if (name === 'url') return url;
  if (name === 'scopes') return fc.constantFrom(...scopes);
  if (name === 'contentType') return fc.constantFrom('image/png', 'text/plain; charset=utf-8', '', 'x');
  return text(300);
}

/** The pool for an argument or field that names an object, by its name. */
function named(name: string, { of, deletes }: ValueContext): fc.Arbitrary<string> | undefined {
  if (deletes) {
    const spare = spares.find(([input]) => of.toLowerCase().startsWith(input.toLowerCase()))?.[1];
    if (name === 'key' || name === 'id') return spare && pooled(spare);
  }
  if (name === 'issueKey' || name === 'keys' || (name === 'key' && !of.startsWith('project')))
    return pooled('issueKey', 'issue');
  if (name === 'key') return pooled('projectKey', 'project');
  if (name === 'code' || name === 'codes') return pooled('teamCode', 'team');
  if (name === 'id' || name === 'ids' || name === 'eq' || name === 'in' || name === 'nin') return ofKind(of);
  const word = /(\w+?)Ids?$/.exec(name)?.[1]?.toLowerCase();
  if (word === undefined) return undefined;
  if (word.endsWith('account')) return pooled('user');
  const prefix = idPrefixes.find((each) => word.endsWith(each));
  return prefix && pooled(prefix);
}

const spares: readonly (readonly [string, PoolName])[] = [
  ['IssueDelete', 'spareKey'],
  ['IssueRestore', 'spareKey'],
  ['CommentDelete', 'spareComment'],
  ['IssueLinkDelete', 'spareLink'],
  ['AttachmentDelete', 'spareAttachment'],
  ['AccessTokenRevoke', 'spareToken'],
  ['WebhookDelete', 'spareWebhook'],
];

const anyPrefix: readonly IdPrefix[] = [
  'webhook',
  'issue',
  'team',
  'comment',
  'project',
  'member',
  'user',
  'label',
  'status',
  'delivery',
  'thread',
  'message',
  'attachment',
  'link',
  'repo',
];

/** An id of the kind that the input concerns, such as a comment for `id` of CommentUpdateInput; else of any kind. */
function ofKind(of: string): fc.Arbitrary<string> | undefined {
  if (/^(String|Int|Date|DateTime|Boolean)Filter$/.test(of)) return undefined;
  const word = of.toLowerCase();
  if (word.startsWith('webhookdelivery')) return pooled('whdelivery');
  const prefix = anyPrefix.find((each) => word.startsWith(each) || word.startsWith(`issue${each}`));
  return prefix ? pooled(prefix) : pooled(...anyPrefix);
}
