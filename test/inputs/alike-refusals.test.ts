import { beforeAll, expect, it } from '@jest/globals';
import { encodeId, type IdPrefix, newUuid } from '../../src/resolvers/ids.ts';
import { installAgent } from '../support/issue-world.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';

const { app, world, ada } = useIssueWorld();

let issueKey: string;
beforeAll(async () => {
  await installAgent(app, world, world.agent);
  issueKey = (await ada.create({ teamId: world.eng.id, title: 'Here' })).key;
});

// Writes that both APIs have: the method and the rest of the path in REST, the mutation, and what its input calls the key.
const change = ['PATCH', '', 'issueUpdate', 'key'] as const;
const comment = ['POST', '/comments', 'commentCreate', 'issueKey'] as const;
const link = ['POST', '/links', 'issueLinkCreate', 'issueKey'] as const;
const message = ['POST', '/agent-thread/messages', 'agentMessageCreate', 'issueKey'] as const;
const url = 'https://example.com/';

const differentLabels = (count: number) => Array.from({ length: count }, () => encodeId('label', newUuid()));
const trials: readonly (readonly [
  what: string,
  write: typeof change | typeof comment | typeof link | typeof message,
  input: () => object,
  messages: readonly string[],
])[] = [
  ['no id', change, () => ({ projectId: 'x' }), ['expected a project id, got something that is not an id']],
  ...Object.entries({
    team: 'a team',
    thread: 'a thread',
    app: 'an application',
    change: 'a change',
  } as const).map(
    ([prefix, noun]) =>
      [
        `the id of ${noun}`,
        change,
        () => ({ projectId: encodeId(prefix as IdPrefix, newUuid()) }),
        [`expected a project id, got ${noun} id`],
      ] as const,
  ),
  [
    'an item that is no id',
    change,
    () => ({ labelIds: ['x', encodeId('repo', newUuid())] }),
    [
      'item 1: expected a label id, got something that is not an id',
      'item 2: expected a label id, got a repository id',
    ],
  ],
  [
    'too many different ids',
    change,
    () => ({ labelIds: differentLabels(51) }),
    ['must have at most 50 different items'],
  ],
  ['an empty text', change, () => ({ title: '' }), ['must not be empty']],
  ['a long text', change, () => ({ title: 'x'.repeat(256) }), ['must have at most 255 characters']],
  ['a text with NUL', comment, () => ({ body: '\0' }), ['must not contain NUL or half a surrogate pair']],
  ['a byte-order mark', comment, () => ({ body: '\ufeffx' }), ['must not begin with a byte-order mark']],
  ['an empty comment', comment, () => ({ body: '' }), ['must not be empty']],
  ['a low number', change, () => ({ estimateValue: -1 }), ['must be a whole number from 0 to 2147483647']],
  [
    'a low turn',
    message,
    () => ({ body: 'x', turnNumber: -1 }),
    ['must be a whole number from 0 to 2147483647'],
  ],
  [
    'no URL',
    link,
    () => ({ url: 'ftp://example.com', title: 'x' }),
    ['must be an http or https URL, such as https://example.com/page'],
  ],
  ['an empty URL', link, () => ({ url: '', title: 'x' }), ['must not be empty']],
  ['a blank URL', link, () => ({ url: ' ', title: 'x' }), ['must not be white space alone']],
  [
    'a long URL',
    link,
    () => ({ url: url.padEnd(2_049, 'x'), title: 'x' }),
    ['must have at most 2048 characters'],
  ],
  [
    'a URL with NUL',
    link,
    () => ({ url: `${url}\0`, title: 'x' }),
    ['must not contain NUL or half a surrogate pair'],
  ],
];

it.each(trials)('both APIs refuse %s with the same words', async (_, write, input, messages) => {
  const [method, path, mutation, keyName] = write;
  const sent = input();
  const rest = await app.request<{ errors?: { message: string }[] }>(
    method,
    `/v1/issues/${issueKey}${path}`,
    { body: sent },
  );
  expect(rest.body.errors?.map((error) => error.message)).toEqual(messages);
  const type = `${mutation.slice(0, 1).toUpperCase()}${mutation.slice(1)}Input`;
  const document = `mutation ($input: ${type}!) { ${mutation}(input: $input) { __typename } }`;
  const { errors = [] } = (await app.graphql(document, { input: { [keyName]: issueKey, ...sent } })).body;
  expect(errors).toMatchObject([{ extensions: { errors: rest.body.errors } }]);
});

it('both APIs refuse a page of no rows with the same words', async () => {
  const message = 'must be a whole number from 1 to 250';
  const rest = await app.request('GET', '/v1/teams?page_size=0');
  expect(rest.body).toMatchObject({ errors: [{ field: 'page_size', message }] });
  const { errors } = (await app.graphql('{ teams(first: 0) { totalCount } }')).body;
  expect(errors).toMatchObject([{ extensions: { errors: [{ field: 'first', message }] } }]);
});
