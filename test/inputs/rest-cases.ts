import fc from 'fast-check';
import { keyPattern } from '../../src/executor/answers/idempotent.ts';
import { errorCodes } from '../../src/resolvers/errors.ts';
import { idPrefixes } from '../../src/resolvers/ids.ts';
import type { JsonSchema } from '../../src/rest-compat/json-schema.ts';
import type { Route } from '../../src/rest-compat/route.ts';
import { type PoolName, pooled } from './pool.ts';
import { anyJson, anyText, strangeNumbers, strangeTimes } from './texts.ts';
import type { Wire } from './client.ts';

/** A request of a route before it is encoded. */
export interface RestCase {
  readonly path: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, or the bytes of a body as characters (`raw`). */
  readonly body?: { readonly json: unknown } | { readonly raw: string };
}

/** Generates cases of a route from the declarations of its parameters and its body. */
export function restCases(route: Route): fc.Arbitrary<RestCase> {
  const parameters = Object.entries(route.parameters);
  const path = parameters
    .filter(([, { kind }]) => kind === 'path')
    .map(([name, { schema }], index, all) => {
      const isDeleted = route.method === 'DELETE' && index === all.length - 1;
      return [name, mostly(good(name, schema, isDeleted).map(String), anyText)] as const;
    });
  const query = parameters.flatMap(([name, { kind, schema }]) =>
    kind === 'path' || kind === 'header' ? [] : [[name, schema, kind] as const],
  );
  return fc.record({
    path: fc.record<Record<string, string>>(Object.fromEntries(path)),
    query: queries(query),
    headers: headers(route),
    ...(route.body && { body: bodies(route) }),
  });
}

/** Encodes a request. */
export function wireOf({ method, path }: Route, { query, headers, body, ...rest }: RestCase): Wire {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => percentEncoded(rest.path[name] ?? ''));
  const search = query.map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(value)}`).join('&');
  const bytes =
    body &&
    ('raw' in body ? Buffer.from(body.raw, 'latin1') : Buffer.from(JSON.stringify(body.json ?? null)));
  return {
    method,
    target: search === '' ? filled : `${filled}?${search}`,
    headers,
    ...(bytes && { body: bytes }),
  };
}

/** Like encodeURIComponent, which throws on half a surrogate pair; here, its three bytes are encoded. */
export function percentEncoded(text: string): string {
  return Array.from(text, (character) =>
    character.isWellFormed() ? encodeURIComponent(character) : halfEncoded(character.charCodeAt(0)),
  ).join('');
}

function halfEncoded(unit: number): string {
  const bytes = [0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)];
  return bytes.map((byte) => `%${byte.toString(16)}`).join('');
}

/** Mostly the usual value, because a request that is refused for one value tests no others. */
export function mostly<T, U>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<U>): fc.Arbitrary<T | U> {
  return fc.oneof({ arbitrary: usual, weight: 14 }, { arbitrary: other, weight: 1 });
}

type Described = readonly [name: string, schema: JsonSchema, kind: string];

function queries(described: readonly Described[]): fc.Arbitrary<(readonly [string, string])[]> {
  const junk = fc.tuple(fc.constantFrom('unknown', 'page_size', 'cursor', '__proto__', ''), anyText);
  if (described.length === 0) return fc.array(junk, { maxLength: 1 });
  const one = fc.constantFrom(...described).chain(([name, schema, kind]) => {
    const value = kind === 'many' ? (schema.items ?? schema) : schema;
    const text = mostly(good(name, value, false).map(String), anyText);
    const times = { minLength: 1, maxLength: kind === 'many' ? 3 : 1 };
    return fc.array(text, times).map((texts) => texts.map((each) => [name, each] as const));
  });
  const several = fc
    .uniqueArray(one, { maxLength: 5, selector: (pairs) => pairs[0]?.[0] })
    .map((list) => list.flat());
  return mostly(
    several,
    fc.tuple(several, fc.array(junk, { maxLength: 2 })).map(([usual, odd]) => [...usual, ...odd]),
  );
}

/** A value that the schema permits, with the name of an existing object if it names one. */
function good(
  name: string,
  {
    type,
    format,
    pattern,
    enum: known,
    minimum = -5,
    maximum = 2_147_483_647,
    maxLength = 2_000,
    items,
  }: JsonSchema,
  deletes: boolean,
): fc.Arbitrary<unknown> {
  if (known) return fc.constantFrom(...known);
  if (items) return fc.array(good(name, items, deletes), { maxLength: 4 });
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer')
    return fc.oneof(
      fc.integer({ min: minimum, max: Math.min(maximum, 30) }),
      fc.constantFrom(minimum, maximum),
    );
  if (format === 'date') return fc.constantFrom('2026-01-31', '0001-01-01', '9999-12-31');
  if (format === 'date-time') return fc.constantFrom('2026-01-31T12:00:00Z', '2026-06-01T00:00:00.123+02:00');
  if (format === 'uri') return url;
  const prefix = /^\^([a-z]+)_/.exec(pattern ?? '')?.[1];
  if (name === 'code') return fc.constantFrom(...Object.keys(errorCodes));
  const named = prefix === undefined ? namesOf(name) : idPrefixes.find((each) => each === prefix);
  if (named) return pooled(deletes ? (spares[named] ?? named) : named);
  return text(maxLength);
}

const spares: Partial<Record<PoolName, PoolName>> = {
  issueKey: 'spareKey',
  comment: 'spareComment',
  link: 'spareLink',
  webhook: 'spareWebhook',
};

function namesOf(name: string): PoolName | undefined {
  if (name === 'issueKey') return 'issueKey';
  if (name === 'teamCode' || name === 'team_code') return 'teamCode';
  return name === 'projectKey' || name === 'project_key' ? 'projectKey' : undefined;
}

/** A URL, which may be invalid. */
export const url: fc.Arbitrary<string> = fc.oneof(
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc
    .tuple(fc.constantFrom('https://example.com/', 'http://a@b/?', 'https://[::1]/#'), anyText)
    .map((parts) => parts.join('')),
);

/** A text that is mostly valid, and rarely a plain one. */
export function text(maxLength: number): fc.Arbitrary<string> {
  return fc.oneof(anyText, fc.string({ minLength: 1, maxLength: Math.min(maxLength, 40) }));
}

function bodies({ body, method }: Route): fc.Arbitrary<RestCase['body']> {
  const fields = Object.entries(body?.fields ?? {});
  const required = fields.flatMap(([name, { kind }]) => (kind === 'required' ? [name] : []));
  const values = fields.map(([name, field]) => {
    if (field.kind === 'clears') return [name, mostly(fc.boolean(), anyJson)] as const;
    const schema = field.kind === 'required' ? field.value.schema : field.schema;
    return [name, mostly(json(name, schema, method === 'DELETE'), anyJson)] as const;
  });
  // Only a few fields at a time, because in an update a field and its clear flag exclude each other.
  const whole = fc.record(Object.fromEntries(values), { requiredKeys: required });
  const few = fc
    .tuple(
      whole,
      fc.subarray(
        fields.map(([name]) => name),
        { maxLength: Math.min(3, fields.length) },
      ),
    )
    .map(([all, kept]) =>
      Object.fromEntries(
        Object.entries(all).filter(([name]) => required.includes(name) || kept.includes(name)),
      ),
    );
  return fc.oneof(
    { arbitrary: few.map((value) => ({ json: value })), weight: 8 },
    { arbitrary: whole.map((value) => ({ json: value })), weight: 3 },
    { arbitrary: anyJson.map((value) => ({ json: value })), weight: 1 },
    {
      arbitrary: fc
        .constantFrom(...rawBodies, ...numbersIn(fields.map(([name]) => name)))
        .map((raw) => ({ raw })),
      weight: 1,
    },
  );
}

function json(name: string, schema: JsonSchema, deletes: boolean): fc.Arbitrary<unknown> {
  const { items, properties, required = [] } = schema;
  if (items) return fc.array(json(name, items, deletes), { maxLength: 4 });
  if (!properties) return good(name, schema, deletes);
  const entries = Object.entries(properties).map(
    ([field, each]) => [field, mostly(json(field, each, deletes), anyJson)] as const,
  );
  return fc.record(Object.fromEntries(entries), { requiredKeys: [...required] });
}

const rawBodies = [
  '',
  ' ',
  '{',
  'null',
  '\ufeff{}'.replace('\ufeff', '\xef\xbb\xbf'),
  '\xff\xfe',
  '{"title":"\xc3\x28"}',
  '{"title":"\xed\xa0\x80"}',
  '{"title":"a","title":"b"}',
  '{"__proto__":{"title":"x"},"title":"y"}',
  '{"constructor":{"prototype":{"title":"x"}}}',
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  `{"a":${'{"a":'.repeat(33)}1${'}'.repeat(33)}}`,
];

/** Bodies with number spellings that JSON.stringify would not produce, in each field. */
function numbersIn(names: readonly string[]): string[] {
  return names.flatMap((name) => strangeNumbers.map((number) => `{"${name}":${number}}`));
}

/** Characters of headers: visible ASCII and the rest of latin1. */
const headerText = fc.oneof(
  anyText.map((text) =>
    Buffer.from(text)
      .toString('latin1')
      .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, ''),
  ),
  fc.constantFrom(...strangeNumbers, ...strangeTimes.filter((each) => !/[^\x20-\x7e]/.test(each))),
);

function headers({ parameters }: Route): fc.Arbitrary<Record<string, string>> {
  const own = Object.keys(parameters).filter((name) => parameters[name]?.kind === 'header');
  const usual = fc.constantFrom<Record<string, string>>({}, { 'Accept-Encoding': 'gzip;q=0, identity' });
  const etags = fc.constantFrom('*', '"r1-x"', 'W/"r1-x"', '"r1-x", "r2-y"', '"', '""', '"r99999999999-x"');
  const idempotent = fc
    .string({ unit: fc.constantFrom('a', 'b', '1'), maxLength: 6 })
    .filter((key) => keyPattern.test(key));
  const odd: fc.Arbitrary<Record<string, string>> = fc.oneof(
    etags.map((value) => ({ 'If-Match': value })),
    etags.map((value) => ({ 'If-None-Match': value })),
    idempotent.map((value) => ({ 'Idempotency-Key': value })),
    fc
      .tuple(
        fc.constantFrom(
          ...own,
          'If-Match',
          'If-None-Match',
          'Idempotency-Key',
          'X-Request-Id',
          'Accept',
          'Accept-Encoding',
          'Content-Type',
          'Content-Encoding',
          'Range',
          'Origin',
          'X-Forwarded-Host',
          'X-GraphQL-Cost',
          'Cookie',
        ),
        headerText,
      )
      .map(([name, value]) => ({ [name]: value })),
  );
  return fc.oneof({ arbitrary: usual, weight: 8 }, { arbitrary: odd, weight: 1 });
}
