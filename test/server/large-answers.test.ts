import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ExecutionResult } from 'graphql';
import { maxAnswerBytes } from '../../src/executor/limits.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { type App, startApp } from '../support/app.ts';
import { team } from '../support/fixtures.ts';

/** The texts of all issues together are just longer than one answer may be. */
const descriptionLength = 100_000;
const issueCount = Math.ceil(maxAnswerBytes / descriptionLength) + 1;
const message = `The answer would be larger than ${maxAnswerBytes.toLocaleString('en')} bytes. Ask for smaller pages or fewer fields.`;

let app: App;
let keys: string[];
beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
  const { id, labels } = await team(app.database, app.workspaceId, { code: 'BIG' });
  const longDescription = { description: 'd'.repeat(descriptionLength) };
  await app.database.unscoped
    .updateTable('label')
    .set(longDescription)
    .where('workspaceId', '=', app.workspaceId)
    .where('id', '=', labels.Bug)
    .execute();
  const body = { teamId: encodeId('team', id), title: 'Long', priority: 0, ...longDescription };
  keys = [];
  const create = async (labelIds: string[]) => {
    const answer = await app.request<{ key: string }>('POST', '/v1/issues', { body: { ...body, labelIds } });
    keys.push(answer.body.key);
  };
  for (let n = 0; n < issueCount; n++) await create([encodeId('label', labels.Bug)]);
});
afterAll(() => app.stop());

/** graphql-js also adds the position in the operation at which the limit was reached. */
const refusal = expect.objectContaining({
  extensions: expect.objectContaining({ code: 'QUERY_TOO_COMPLEX' }),
  message,
});

/** Compares only whether there is data, so that a failure does not print a large answer. */
function expectRefused({ data, errors }: ExecutionResult): void {
  expect({ hasData: data !== undefined, errors }).toEqual({ hasData: false, errors: [refusal] });
}

it('the graph refuses an answer that is too large as a whole', async () => {
  const { body } = await app.graphql('{ issues(first: 250) { nodes { description } } }');
  expectRefused(body);
});

it('the graph adds up what the fields of one operation read', async () => {
  const page = (after: string) =>
    `issues(first: ${Math.ceil(issueCount / 2)}${after}) { nodes { description } }`;
  const half = await app.graphql(`{ ${page('')} }`);
  expect(half.body.errors).toBeUndefined();
  const { body } = await app.graphql(`{ one: ${page('')} two: ${page(', orderBy: { field: NUMBER }')} }`);
  expectRefused(body);
});

it('the graph counts a text from memory as often as it is answered', async () => {
  const { body } = await app.graphql('{ issues(first: 250) { nodes { labels { description } } } }');
  expectRefused(body);
});

/** Selects a field so often that its texts are longer than one answer may be. */
const aliasesOf = (field: string, times = 150) =>
  Array.from({ length: times }, (_, n) => `a${n}: ${field}`).join(' ');

it.each([
  ['the schema', '__schema { queryType { name } }'],
  ['access tokens', 'viewer { accessToken { id } } workspace { name }'],
  ['nothing', ''],
])('the graph counts a text as often as its aliases repeat it, beside %s', async (_what, beside) => {
  const query = `query ($key: String!) { ${beside} issue(key: $key) { ${aliasesOf('description')} } }`;
  expectRefused((await app.graphql(query, { key: keys[0] })).body);
});

/** The answer to a POST is written as bytes, and the answer to a GET is built from values first. */
async function ask(
  method: 'POST' | 'GET',
  query: string,
  variables: Record<string, unknown>,
): Promise<ExecutionResult> {
  if (method === 'POST') return (await app.graphql(query, variables)).body;
  const search = new URLSearchParams({ query, variables: JSON.stringify(variables) });
  return (await app.request<ExecutionResult>('GET', `/graphql?${search}`)).body;
}

/** With the first, the compiled executor answers; with the second, graphql-js. */
const fallbackFields = ['', '__schema { queryType { name } }'];

describe.each(
  fallbackFields.flatMap((beside) => [
    { method: 'POST', beside } as const,
    { method: 'GET', beside } as const,
  ]),
)('$method beside { $beside }', ({ method, beside }) => {
  it.each([
    ['letters of three bytes', '字'],
    ['characters that JSON escapes', '"'],
  ])('the graph counts the bytes of %s', async (_what, character) => {
    const input = { key: keys[3], description: character.repeat(40_000) };
    const update = 'mutation ($input: IssueUpdateInput!) { issueUpdate(input: $input) { issue { key } } }';
    await app.graphql(update, { input });
    const query = `query ($key: String!) { ${beside} issue(key: $key) { ${aliasesOf('description')} } }`;
    expectRefused(await ask(method, query, { key: keys[3] }));
  });

  const answerWithComment = async (text: string, times?: number): Promise<ExecutionResult> => {
    const made = await app.graphql<{ commentCreate: { comment: { id: string } } }>(
      'mutation ($input: CommentCreateInput!) { commentCreate(input: $input) { comment { id } } }',
      { input: { issueKey: keys[1], body: text } },
    );
    const { id } = made.body.data?.commentCreate.comment ?? {};
    const query = `query ($id: ID!) { ${beside} node(id: $id) { ... on Comment { ${aliasesOf('body', times)} } } }`;
    return ask(method, query, { id });
  };

  it('the graph counts a rich text by its paragraphs', async () => {
    expectRefused(await answerWithComment('a\n'.repeat(5_000)));
  });

  it('the graph answers rich texts whose JSON just fits', async () => {
    // Every other line is empty.
    const { errors, data } = await answerWithComment('a\r\n\r\n'.repeat(5_000), 21);
    expect(errors).toBeUndefined();
    const { length } = JSON.stringify(data);
    expect(length).toBeGreaterThan(0.95 * maxAnswerBytes);
    expect(length).toBeLessThan(maxAnswerBytes);
  });
});

it('a mutation is refused an answer that repeats its text too often, and has written it', async () => {
  const { body } = await app.graphql(
    `mutation ($input: CommentCreateInput!) { commentCreate(input: $input) { comment { ${aliasesOf('body')} } } }`,
    { input: { issueKey: keys[2], body: 'a\n'.repeat(5_000) } },
  );
  expectRefused(body);
  const { body: page } = await app.request<{ pagination: { totalCount: number } }>(
    'GET',
    `/v1/issues/${keys[2]}/comments`,
  );
  expect(page.pagination.totalCount).toBe(1);
});

it('the REST layer answers fewer rows of a page that is too large', async () => {
  interface Page {
    results: { key: string }[];
    pagination: { nextCursor: string };
  }
  const read: string[][] = [];
  let cursor = '';
  do {
    const path = `/v1/issues?page_size=250&cursor=${cursor}`;
    const { body } = await app.request<Page>('GET', path);
    read.push(body.results.map(({ key }) => key));
    cursor = body.pagination.nextCursor;
  } while (cursor !== '');
  // Each issue has two long texts, its own and that of its label, so pages of 250, 125 and 63 are too large.
  expect(read.map(({ length }) => length)).toEqual([32, 32, issueCount - 64]);
  expect(read.flat().toSorted()).toEqual(keys.toSorted());
});

it('a mutation whose answer is too large keeps what it wrote, and says where the answer ends', async () => {
  const { body } = await app.graphql<{ issueUpdate: unknown }>(
    `mutation ($key: String!) { issueUpdate(input: { key: $key, title: "Kept" }) {
      issue { title team { issues(first: 250) { nodes { description } } } } } }`,
    { key: keys[0] },
  );
  expect(body.errors).toEqual([refusal]);
  const read = await app.request<{ title: string }>('GET', `/v1/issues/${keys[0]}`);
  expect(read.body.title).toBe('Kept');
});

it('a refusal leaves the connection to the database usable', async () => {
  for (let n = 0; n < 20; n++) await app.graphql('{ issues(first: 250) { nodes { description } } }');
  const { body } = await app.graphql('{ issues(first: 1) { nodes { title } } }');
  expect(body.errors).toBeUndefined();
});
