import { describe, expect, it } from '@jest/globals';
import { Violations } from '../../src/resolvers/errors.ts';
import { parseUrl } from '../../src/resolvers/link-urls.ts';
import { limits } from '../../src/model/limits.ts';
import { readBody, set } from '../../src/rest-compat/body.ts';
import { nearest } from '../../src/model/nearest.ts';
import { pageLinks } from '../../src/rest-compat/page-links.ts';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import {
  boolean,
  code,
  dateTime,
  httpUrl,
  oneOf,
  type ReadResult,
  text,
} from '../../src/rest-compat/values.ts';

function bodyOf(name: string) {
  const body = routeTable.find(({ method, path }) => `${method} ${path}` === name)?.body;
  if (!body) throw new Error(`${name} takes no body.`);
  return body;
}

/** The fields of a body that are refused for these values. */
function refusedBy(name: string, values: Record<string, unknown>): string[] {
  const { violations } = readBody(bodyOf(name), values);
  return violations.filter(({ message }) => message !== 'is required').map(({ field }) => field);
}

const problemOf = (read: ReadResult<unknown>) =>
  'violations' in read ? read.violations[0]?.message : undefined;

describe('limits are those of the graph', () => {
  const texts: readonly (readonly [string, string, number])[] = [
    ['POST /v1/issues', 'title', limits.title],
    ['POST /v1/issues', 'description', limits.description],
    ['PATCH /v1/issues/{issueKey}', 'title', limits.title],
    ['PATCH /v1/issues/{issueKey}', 'description', limits.description],
    ['POST /v1/issues/{issueKey}/comments', 'body', limits.comment],
    ['PATCH /v1/issues/{issueKey}/comments/{commentId}', 'body', limits.comment],
    ['POST /v1/issues/{issueKey}/links', 'title', limits.title],
    ['POST /v1/issues/{issueKey}/agent-thread/messages', 'body', limits.comment],
    ['POST /v1/issues/{issueKey}/attachments', 'fileName', 255],
  ];

  it.each(texts)('%s: %s has at most %i characters, not UTF-16 units', (name, field, max) => {
    expect(refusedBy(name, { [field]: '𝒳'.repeat(max) })).toEqual([]);
    expect(refusedBy(name, { [field]: 'x'.repeat(max + 1) })).toEqual([field]);
  });

  it('counts labels once each, and follow-up actions', () => {
    const tails = '0123456789abcdefghjkmnpqrstvwxyz';
    const label = (index: number) =>
      `label_01h455vb4pex5vsknk084sn0${tails[Math.floor(index / 32)]}${tails[index % 32]}`;
    const labels = (count: number) => Array.from({ length: count }, (_, index) => label(index));
    const name = 'PATCH /v1/issues/{issueKey}';
    expect(refusedBy(name, { labelIds: [...labels(limits.labels), ...labels(limits.labels)] })).toEqual([]);
    expect(refusedBy(name, { labelIds: labels(limits.labels + 1) })).toEqual(['labelIds']);
    const actions = (count: number) =>
      Array.from({ length: count }, () => ({ name: 'n', key: 'k', color: '' }));
    const thread = 'POST /v1/issues/{issueKey}/agent-thread/messages';
    expect(refusedBy(thread, { followUpActions: actions(limits.followUpActions) })).toEqual([]);
    expect(refusedBy(thread, { followUpActions: actions(limits.followUpActions + 1) })).toEqual([
      'followUpActions',
    ]);
  });

  it.each([
    'https://example.com',
    'http://localhost:3000/a?b#c',
    'https://user:secret@example.com/',
    ' https://example.com/trimmed ',
    'https://bücher.example/ä',
    'HTTPS://EXAMPLE.COM',
    'https://[::1]/',
    `https://example.com/${'x'.repeat(limits.url - 20)}`,
    `https://example.com/${'x'.repeat(limits.url - 19)}`,
    '',
    ' ',
    'example.com',
    '//example.com',
    'ftp://example.com',
    'javascript:alert(1)',
    'https://',
    'https:///path',
    'https:/example.com',
    'https://exa mple.com',
    'https://example.com/a b',
    'https://example.com\\a',
    'https://example.com:99999/',
    'https://@/',
    'https://a@b@c/',
    'https://example.com/\0',
    'https://example.com/\ud800',
  ])('agrees on the URL %j', (url) => {
    const violations = new Violations();
    parseUrl(violations, 'url', url);
    const accepted = 'value' in httpUrl('Where.', { maxLength: limits.url }).fromJson(url);
    expect(accepted).toBe(!violations.any);
  });
});

describe('a wrong value of a closed set', () => {
  const state = oneOf({ active: 1, inactive: 2, archived: 3 }, 'State.');

  it.each([
    ['ACTIVE', 'active'],
    ['activ', 'active'],
    ['actvie', 'active'],
    ['inactiv', 'inactive'],
    ['archive', 'archived'],
    [' active', 'active'],
  ])('%j is answered with those that are allowed, and %s', (spelling, meant) => {
    expect(problemOf(state.fromText(spelling))).toBe(
      `must be one of active, inactive, archived; did you mean ${meant}?`,
    );
  });

  it.each(['open', '', 'x', 'constructor', 'active'.repeat(50)])(
    '%j is answered without a suggestion',
    (spelling) => {
      expect(problemOf(state.fromText(spelling))).toBe('must be one of active, inactive, archived');
    },
  );

  it('is answered with the only allowed value if there is just one', () => {
    const order = oneOf({ created: 'CREATED' }, 'Order.');
    expect(problemOf(order.fromText('updated'))).toBe('must be created');
  });

  it('accepts the name of a code in place of its number', () => {
    const priority = code('Priority', 'Priority.');
    const list = '0 (none), 1 (urgent), 2 (high), 3 (medium), 4 (low)';
    expect(problemOf(priority.fromJson('High'))).toBe(`must be one of ${list}; did you mean 2?`);
    expect(problemOf(priority.fromJson(5))).toBe(`must be one of ${list}`);
    expect(problemOf(priority.fromJson('2'))).toBe(`must be one of ${list}`);
  });

  it('suggests a similar name, and none that is too different', () => {
    expect(nearest('member_cuont', ['member_count', 'code'])).toBe('member_count');
    expect(nearest('membercount', ['member_count', 'code'])).toBe('member_count');
    expect(nearest('zzz', ['asc', 'desc'])).toBeUndefined();
    expect(nearest('5', ['0', '1', 'urgent'])).toBeUndefined();
  });
});

it('a time may have any offset, and a space in place of a plus sign that was not encoded', () => {
  const time = dateTime('When.');
  for (const spelling of ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.123+02:00', '2026-01-31T12:00-05:00'])
    expect(time.fromText(spelling)).toEqual({ value: spelling });
  expect(time.fromText('2026-01-31T12:00:00 02:00')).toEqual({ value: '2026-01-31T12:00:00+02:00' });
  expect(time.fromJson('2026-01-31T12:00:00 02:00')).toHaveProperty('violations');
  for (const spelling of [
    '2026-01-31',
    '2026-01-31T12:00:00',
    '2026-02-30T00:00:00Z',
    '12:00',
    '',
    '1767225600',
  ])
    expect(time.fromText(spelling)).toHaveProperty('violations');
});

it('a set is read without repetitions, and a violation names the invalid item', () => {
  const names = set(text('A name.', { minLength: 1 }), 'Names.', 2);
  expect(names.fromJson(['a', 'b', 'a'])).toEqual({ value: ['a', 'b'] });
  expect(problemOf(names.fromJson(['a', 'b', 'c']))).toBe('must have at most 2 different items');
  expect(problemOf(names.fromJson(['a', '']))).toMatch(/^item 2: /);
  expect(problemOf(names.fromJson('a'))).toBe('must be a list');
  expect(boolean('Yes.').fromText('yes')).toHaveProperty('violations');
});

describe('page links', () => {
  const request = (origin: string, query: string) => ({
    origin,
    path: '/v1/teams',
    query: new URLSearchParams(query),
  });

  it('keep every parameter but the cursor, repeated ones too', () => {
    const query = 'state=active&state=archived&query=a%26b&cursor=old';
    expect(pageLinks(request('https://work.example.com', query), 'new=')).toBe(
      '<https://work.example.com/v1/teams?state=active&state=archived&query=a%26b&cursor=new%3D>; rel="next", ' +
        '<https://work.example.com/v1/teams?state=active&state=archived&query=a%26b>; rel="first"',
    );
  });

  it('are left out when a long query would make the headers too large', () => {
    const query = `query=${'é'.repeat(400)}`;
    expect(pageLinks(request('', query), '')).toHaveLength(2_431);
    expect(pageLinks(request('', query), 'next')).toBeUndefined();
  });

  it('have no next page at the end, and no invalid host', () => {
    expect(pageLinks(request('https://work.example.com/base', ''), '')).toBe(
      '<https://work.example.com/base/v1/teams>; rel="first"',
    );
    expect(pageLinks(request('http://a b', ''), '')).toBe('</v1/teams>; rel="first"');
  });
});
