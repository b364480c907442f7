import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { brokenGraphPromises } from './released/graph-promises.ts';
import { brokenPromises, type OpenApi, restPromises } from './released/rest-promises.ts';

// A promise of the released version is kept: a field, an operation or a parameter goes away only after a release in which it
// was deprecated. With each release, `npm run contract:release` records the current schema and REST API as the released ones.

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const released = read('test/contract/released/schema.graphql');
const schema = read('schema.graphql');
const rest = JSON.parse(read('test/contract/released/rest.json')) as Record<'offers' | 'demands', string[]>;
const releasedRest = { offers: new Set(rest.offers), demands: new Set(rest.demands) };
const openApi = JSON.parse(read('openapi.json')) as OpenApi;

/**
 * What the next version breaks on purpose, because keeping the promise would serve clients worse. CHANGELOG.md says what they have
 * to change. Each release empties the list.
 */
const brokenOnPurpose = ['Subscription.issues changed type from IssueListEvent! to IssueListEvent.'];

it('the schema breaks nothing of the released schema except what CHANGELOG.md names', () => {
  expect(brokenGraphPromises(released, schema)).toEqual(brokenOnPurpose);
});

it('openapi.json breaks nothing of the released REST API', () => {
  expect(brokenPromises(releasedRest, restPromises(openApi))).toEqual([]);
});

describe('the comparison of schemas', () => {
  const before = 'type Query { a(b: Int): String! old: Int @deprecated } enum Kind { ONE TWO }';
  it.each([
    ['refuses a removed field', 'type Query { old: Int } enum Kind { ONE TWO }'],
    ['refuses another type', 'type Query { a(b: Int): Int old: Int } enum Kind { ONE TWO }'],
    ['refuses a new required argument', 'type Query { a(b: Int, c: Int!): String! } enum Kind { ONE TWO }'],
    ['refuses a removed value', 'type Query { a(b: Int): String! old: Int } enum Kind { ONE }'],
  ])('%s', (_name, after) => {
    expect(brokenGraphPromises(before, after)).toHaveLength(1);
  });

  it('accepts a schema without a deprecated field and with new ones', () => {
    const after = 'type Query { a(b: Int, c: Int): String! more: Int } enum Kind { ONE TWO THREE }';
    expect(brokenGraphPromises(before, after)).toEqual([]);
  });
});

describe('the comparison of REST APIs', () => {
  /** A copy of openapi.json that may be changed. */
  interface Draft {
    readonly paths: Record<string, Record<string, { readonly parameters: { required?: boolean }[] }>>;
    readonly components: {
      readonly schemas: { readonly Issue: { properties: Record<string, unknown>; required: string[] } };
    };
  }
  const brokenBy = (change: (document: Draft) => unknown) => {
    const copy: unknown = structuredClone(openApi);
    change(copy as Draft);
    return brokenPromises(restPromises(openApi), restPromises(copy as OpenApi));
  };
  const issueListParameters = ({ paths }: Draft) => paths['/v1/issues']?.['get']?.parameters ?? [];
  const issue = ({ components }: Draft) => components.schemas.Issue;

  it.each<[string, RegExp, (document: Draft) => unknown]>([
    ['a removed operation', /^gone: GET \/v1\/teams$/, ({ paths }) => delete paths['/v1/teams']],
    [
      'a removed parameter',
      /^gone: GET \/v1\/issues query team_code: string$/,
      (document) => issueListParameters(document).shift(),
    ],
    [
      'a parameter that is required now',
      /^new: GET \/v1\/issues query team_code is required$/,
      (document) => Object.assign(issueListParameters(document)[0] ?? {}, { required: true }),
    ],
    [
      'a removed field',
      /^gone: Issue \(answered\)\.title/,
      (document) => delete issue(document).properties['title'],
    ],
    [
      'a field of another type',
      /^gone: Issue \(answered\)\.title: string$/,
      (document) => Object.assign(issue(document).properties, { title: { type: 'integer' } }),
    ],
    [
      'a field that may be missing now',
      /^gone: Issue \(answered\)\.title is there$/,
      (document) => issue(document).required.splice(issue(document).required.indexOf('title'), 1),
    ],
  ])('refuses %s', (_name, expected, change) => {
    expect(brokenBy(change).filter((line) => expected.test(line))).not.toEqual([]);
  });

  it('accepts additions', () => {
    const broken = brokenBy((document) => {
      Object.assign(issue(document).properties, { more: { type: 'string' } });
      Object.assign(document.paths, { '/v1/more': { get: { responses: { 200: {} } } } });
    });
    expect(broken).toEqual([]);
  });

  it('accepts a document without a deprecated operation', () => {
    const before = structuredClone(openApi);
    Object.assign(before.paths['/v1/teams']?.['get'] ?? {}, { deprecated: true });
    const after = structuredClone(openApi) as { paths: Record<string, unknown> };
    delete after.paths['/v1/teams'];
    expect(brokenPromises(restPromises(before), restPromises(after as OpenApi))).toEqual([]);
  });
});
