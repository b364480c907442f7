import { expect, it } from '@jest/globals';
import { useIssueWorld } from '../support/use-issue-world.ts';

const { app, world, ada } = useIssueWorld();

/** As long as a description may be: 400,000 bytes. */
const long = '😀'.repeat(100_000);
const mutation =
  'mutation ($input: IssueBatchUpdateInput!) { issueBatchUpdate(input: $input) { issues { key revision } } }';

async function create(count: number): Promise<string[]> {
  const keys: string[] = [];
  while (keys.length < count) {
    const { key } = await ada.create({ teamId: world.eng.id, title: 'An issue' });
    keys.push(key);
  }
  return keys;
}

it('a long text is written to a few issues with each statement', async () => {
  const keys = await create(7);
  const short = await app.graphql(mutation, { input: { keys, description: 'Short' } });
  const { body, statements } = await app.graphql(mutation, { input: { keys, description: long } });
  expect(body.data).toEqual({ issueBatchUpdate: { issues: keys.map((key) => ({ key, revision: 3 })) } });
  // Three of these texts have more than a million bytes.
  expect(statements).toBe(short.statements + 2);
  const last = await app.graphql<{ issue: { description: string } }>(
    'query ($key: String!) { issue(key: $key) { description } }',
    { key: keys.at(-1) },
  );
  expect(last.body.data?.issue.description === long).toBe(true);
});

it('one statement writes long texts if it may move counts, which are locked in one order', async () => {
  const keys = await create(7);
  const short = await app.graphql(mutation, { input: { keys, priority: 'HIGH', description: 'Short' } });
  const { body, statements } = await app.graphql(mutation, {
    input: { keys, priority: 'LOW', description: long },
  });
  expect(body.data).toEqual({ issueBatchUpdate: { issues: keys.map((key) => ({ key, revision: 3 })) } });
  expect(statements).toBe(short.statements);
});

it('issues keep their text when a later statement of the batch is refused', async () => {
  const keys = await create(30);
  const { body } = await app.graphql(mutation, { input: { keys, description: long } });
  expect(body.errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COMPLEX' } }]);
  expect(await ada.read(keys[0] ?? '')).toMatchObject({ description: '', revision: 1 });
});
