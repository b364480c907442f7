import {
  type GraphQLField,
  type GraphQLInputType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { schema } from '../../src/schema/index.ts';
import { maxJsonValues, maxLines } from '../../src/executor/limits.ts';
import type { Route } from '../../src/rest-compat/route.ts';
import type { JsonSchema } from '../../src/rest-compat/json-schema.ts';

/** An operation with variables at the limits of their size, or far beyond. */
export interface LargeInput {
  readonly name: string;
  /** Both are created when they are sent, because all of them together would fill the memory. */
  readonly query: () => string;
  readonly variables: () => Readonly<Record<string, unknown>>;
}

/** Just below the limit of a body, so that the body is read. */
const bodyBytes = 900_000;
/** Just below the limit of the values in a body, so that it is parsed. */
const bodyValues = maxJsonValues - 1_000;
/** Just below the limit on aliases in an operation. */
const aliases = 190;
/** A list of the maximum length that the schema permits. Filters are filled to their limit of 100 conditions. */
const fullList = 250;
const fullParts = 100;

const longText = 'x'.repeat(bodyBytes);

/** Input types that have been filled already, because a filter type is the same in all fields. */
const seen = new Set<string>();

/** A large value at one position of an input, in which everything else is as small as possible. */
interface Filling {
  readonly what: string;
  readonly value: () => unknown;
}

/** Every position of every input type, filled to its limit and far beyond it, used once and under many aliases. */
export const largeInputs: readonly LargeInput[] = (['query', 'mutation'] as const).flatMap((kind) => {
  const root = kind === 'query' ? schema.getQueryType() : schema.getMutationType();
  return Object.values(root?.getFields() ?? {}).flatMap((field) =>
    field.args.flatMap((argument) =>
      fillingsOf(argument.type, argument.name).flatMap(({ what, value }) => {
        const others = field.args.filter((one) => one !== argument && isNonNullType(one.type));
        const variables = () => ({
          ...Object.fromEntries(others.map(({ name, type }) => [name, smallest(type)])),
          [argument.name]: value(),
        });
        const argumentNames = [...others, argument].map(({ name }) => name);
        return [1, aliases].map((times) => ({
          name: `${field.name}: ${what}, ${times === 1 ? 'once' : `${times} times`}`,
          query: () => document(kind, field, argumentNames, times),
          variables,
        }));
      }),
    ),
  );
});

/** Texts that may surround the tokens of a document, and do not count as tokens. */
const paddings = {
  '450,000 line feeds': () => '\n'.repeat(450_000),
  'as many lines as a document has': () => `${' '.repeat(15)}\n`.repeat(maxLines - 10),
  'as many carriage returns and line feeds': () => `${' '.repeat(12)}\r\n`.repeat(maxLines - 10),
  '900 kB of spaces': () => ' '.repeat(bodyBytes),
  'a comment of 900 kB': () => `# ${longText}\n`,
  'as many comments': () => '# comment\n'.repeat(maxLines - 10),
};

/** Operations with as many errors as possible, all with locations in the document. */
const mistaken = {
  'wrong syntax': () => '{ health { status }',
  '1,900 unknown fields': () => `{ health { ${numbered(1_900, (n) => `q${n}`)} } }`,
  'fields that contradict each other': () =>
    `{ issue(key: "WEB-1") { ${numbered(49, (n) => `q: label${n}`)} } }`,
  'refused arguments': () => `{ ${numbered(aliases, (n) => `q${n}: node(id: "x") { id }`)} }`,
  'wrong variables': () =>
    `query (${numbered(aliases, (n) => `$v${n}: Int`)})
     { ${numbered(aliases, (n) => `q${n}: issues(first: $v${n}) { totalCount }`)} }`,
};

/** Documents that are almost as large as a body, with mistakes after most of their text. */
export const largeDocuments: readonly LargeInput[] = Object.entries(mistaken).flatMap(
  ([mistake, operation]) =>
    Object.entries(paddings).map(([what, padding]) => ({
      name: `${mistake} after ${what}`,
      query: () => padding() + operation(),
      variables: () => Object.fromEntries(Array.from({ length: aliases }, (_, n) => [`v${n}`, 'x'])),
    })),
);

function numbered(count: number, part: (place: number) => string): string {
  return Array.from({ length: count }, (_, index) => part(index)).join(' ');
}

function document(
  kind: string,
  field: GraphQLField<unknown, unknown>,
  argumentNames: readonly string[],
  times: number,
): string {
  const args = field.args.filter(({ name }) => argumentNames.includes(name));
  const declared = args.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ');
  const passed = args.map(({ name }) => `${name}: $${name}`).join(', ');
  const type = getNullableType(field.type);
  const selection = String(type).startsWith('[String') ? '' : '{ __typename }';
  const fields = Array.from(
    { length: times },
    (_, index) => `a${index}: ${field.name}(${passed}) ${selection}`,
  );
  return `${kind} (${declared}) { ${fields.join(' ')} }`;
}

function fillingsOf(type: GraphQLInputType, path: string): Filling[] {
  const bare = getNullableType(type);
  if (isListType(bare)) return fillingsOfList(bare.ofType, path);
  if (isInputObjectType(bare)) {
    const huge = [
      { what: `as many unknown fields as a body may have in ${path}`, value: () => members(bodyValues) },
      {
        what: `unknown fields beside a long one in ${path}`,
        value: () => ({ ...members(20), long: longText }),
      },
    ];
    if (seen.has(bare.name)) return [];
    seen.add(bare.name);
    const small = smallest(bare) as object;
    const fields = Object.values(bare.getFields());
    return [
      ...huge,
      ...fields.flatMap((field) =>
        fillingsOf(field.type, `${path}.${field.name}`).map(({ what, value }) => ({
          what,
          value: () => ({ ...small, [field.name]: value() }),
        })),
      ),
      { what: `all of ${path}`, value: () => filled(bare, 0) },
    ];
  }
  if (isEnumType(bare)) return [];
  return [
    { what: `900 kB of text in ${path}`, value: () => longText },
    { what: `as many lists as a body may have in ${path}`, value: () => repeated([]) },
  ];
}

function fillingsOfList(type: GraphQLInputType, path: string): Filling[] {
  const item = smallest(type);
  const most = isInputObjectType(getNullableType(type)) ? fullParts : fullList;
  return [
    { what: `${most} items in ${path}`, value: () => Array.from({ length: most }, () => item) },
    { what: `as many items as a body may have in ${path}`, value: () => repeated(item) },
    { what: `as many nulls as a body may have in ${path}`, value: () => repeated(null) },
  ];
}

/** The smallest valid value of an input type. */
function smallest(type: GraphQLInputType): unknown {
  const bare = getNullableType(type);
  if (isListType(bare)) return [];
  if (isEnumType(bare)) return bare.getValues()[0]?.name;
  if (isInputObjectType(bare)) {
    const needed = Object.values(bare.getFields()).filter((field) => isNonNullType(field.type));
    return Object.fromEntries(needed.map((field) => [field.name, smallest(field.type)]));
  }
  return { Int: 1, Boolean: true, Date: '2026-01-31', DateTime: '2026-01-31T12:00:00Z' }[String(bare)] ?? '';
}

/** Every field of an input object, with lists of maximum length, and filters at most three levels deep. */
function filled(type: GraphQLInputType, depth: number): unknown {
  const bare = getNullableType(type);
  if (isListType(bare)) {
    if (isInputObjectType(getNullableType(bare.ofType))) return [filled(bare.ofType, depth + 1)];
    return Array.from({ length: 50 }, () => smallest(bare.ofType));
  }
  if (!isInputObjectType(bare) || depth > 2) return smallest(bare);
  return Object.fromEntries(
    Object.values(bare.getFields()).map((field) => [field.name, filled(field.type, depth + 1)]),
  );
}

/** As many of an item as a body may have, by its bytes and by its values. */
function repeated(item: unknown): unknown[] {
  const byBytes = bodyBytes / (JSON.stringify(item).length + 1);
  const length = Math.floor(Math.min(byBytes, bodyValues / valuesIn(item)));
  return Array.from({ length }, () => item);
}

function valuesIn(item: unknown): number {
  if (typeof item !== 'object' || item === null) return 1;
  return Object.values(item).reduce((sum: number, value) => sum + valuesIn(value), 1);
}

function members(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`u${index}`, 1]));
}

/** Bodies of a route with fields far beyond their limits. */
export function largeBodies({
  body,
}: Route): readonly { readonly name: string; readonly body: () => unknown }[] {
  const fields = Object.entries(body?.fields ?? {});
  return [
    { name: 'as many unknown fields as a body may have', body: () => members(bodyValues) },
    { name: 'as many lists as a body may have', body: () => repeated([]) },
    ...fields.flatMap(([name, field]) => {
      const schema: JsonSchema =
        field.kind === 'clears' ? {} : field.kind === 'required' ? field.value.schema : field.schema;
      const item = schema.items?.type === 'object' ? {} : '';
      return [
        { name: `900 kB of text in ${name}`, body: () => ({ [name]: longText }) },
        { name: `as many items as a body may have in ${name}`, body: () => ({ [name]: repeated(item) }) },
      ];
    }),
  ];
}
