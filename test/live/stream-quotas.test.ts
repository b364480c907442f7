import { expect, it } from '@jest/globals';
import { hashToken } from '../../src/resolvers/access/access-tokens.ts';
import { callerOf } from '../support/mutations.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { listen } from './event-stream.ts';

// Quotas that hardly refill during a test.
const { app, world } = useIssueWorld({ settings: { REQUESTS_PER_MINUTE: '4', COST_PER_HOUR: '60' } });

const open = (token: string) => listen(`${app.url}/v1/changes`, token);

/** Creates an issue with a token of its own. */
async function newIssue(): Promise<void> {
  await callerOf(app, await app.tokenFor()).create({ teamId: world.eng.id, title: 'An issue' });
}

it('a stream waits while the cost quota of its token is used up, and ends when the token is revoked', async () => {
  const [token, other] = [await app.tokenFor(), await app.tokenFor()];
  const indebtedStream = await open(token);
  const otherStream = await open(other);
  await app.graphql('{ codes { entries { code } } }', {}, { token });
  for (let n = 0; n < 3; n += 1) {
    await newIssue();
    await otherStream.next();
  }
  expect(indebtedStream.count()).toBe(0);
  otherStream.stop();
  await app.database.unscoped
    .updateTable('accessToken')
    .set({ revokedUtc: new Date() })
    .where('tokenHash', '=', hashToken(token))
    .execute();
  await indebtedStream.ended;
  expect(indebtedStream.count()).toBe(0);
});

it('a stream waits when its own events have used up the cost quota of its token', async () => {
  const [token, other] = [await app.tokenFor(), await app.tokenFor()];
  const viewers = Array.from({ length: 40 }, (_, n) => `v${n}: viewer { scopes }`);
  const answer = await app.graphql(`{ ${viewers.join(' ')} }`, {}, { token });
  expect(answer.headers.get('ratelimit')).toContain('"cost";r=20;');
  const spendingStream = await open(token);
  const otherStream = await open(other);
  for (let n = 0; n < 12; n += 1) {
    await newIssue();
    await otherStream.next();
  }
  // Opening the stream costs two objects, and each event costs three.
  expect(spendingStream.count()).toBeGreaterThan(3);
  expect(spendingStream.count()).toBeLessThan(10);
  for (const stream of [spendingStream, otherStream]) stream.stop();
});

it('a stream continues when the request quota of its token is used up, because events do not count as requests', async () => {
  const [token, other] = [await app.tokenFor(), await app.tokenFor()];
  const stream = await open(token);
  const otherStream = await open(other);
  const health = () => app.graphql('{ health { status } }', {}, { token });
  while ((await health()).status === 200);
  for (let n = 0; n < 3; n += 1) {
    await newIssue();
    await otherStream.next();
  }
  expect(stream.count()).toBeGreaterThan(0);
  for (const each of [stream, otherStream]) each.stop();
});
