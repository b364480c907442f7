import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { oldKeys } from '../../src/resolvers/housekeeping.ts';
import { tidy } from '../../src/server/janitor.ts';
import { startApp } from '../support/app.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { type KeyedWorld, keyedWorld } from '../support/keyed-writes.ts';
import { callerOf } from '../support/mutations.ts';

const hourMs = 3_600_000;

let keyed: KeyedWorld;
/** The key of the issue that the tests write to. */
let issue: string;
beforeAll(async () => {
  keyed = await keyedWorld(await startApp({ sharesDatabase: true }));
  issue = (await keyed.newObjects()).key;
});
afterAll(() => keyed.app.stop());

const comment = (key: string, body: unknown = { body: 'Said.' }, token?: string) =>
  keyed.rest('POST', `/v1/issues/${issue}/comments`, key, body, token);

async function comments(): Promise<number> {
  const read = await callerOf(keyed.app, keyed.app.token).read(issue);
  return Number(read?.['commentCount']);
}

describe('a key', () => {
  it('that 16 requests use at once lets one of them write, and replays the others or tells them to wait', async () => {
    const [before, key] = [await comments(), keyed.newKey()];
    const answers = await Promise.all(Array.from({ length: 16 }, () => comment(key)));
    const wrote = answers.filter(
      ({ headers, status }) => status === 201 && !headers.get('idempotency-replayed'),
    );
    expect(wrote).toHaveLength(1);
    for (const { status, body } of answers) {
      if (status === 201) expect(body).toEqual(wrote[0]?.body);
      else expect([status, body]).toEqual([409, expect.objectContaining({ code: 'conflict' })]);
    }
    expect(await comments()).toBe(before + 1);
    expect((await comment(key)).body).toEqual(wrote[0]?.body);
    const feed = await callerOf(keyed.app, keyed.app.token).feed(issue);
    expect(feed.filter(({ eventType }) => eventType === 'issue-comment.created.v1')).toHaveLength(before + 1);
  });

  it('can be used again after a refusal', async () => {
    const key = keyed.newKey();
    expect((await comment(key, { body: '' })).status).toBe(400);
    expect(
      (await comment(key, { body: 'x', parentCommentId: 'comment_01h455vb4pex5vsknk084sn02q' })).status,
    ).toBe(400);
    expect((await comment(key)).status).toBe(201);
    expect((await comment(key)).headers.get('idempotency-replayed')).toBe('true');
  });

  it('belongs to the member, so another member or workspace can use the same key', async () => {
    const [before, key] = [await comments(), keyed.newKey()];
    const { ada, guest } = keyed.world;
    for (const token of [ada.token, guest.token, keyed.app.token])
      expect((await comment(key, undefined, token)).headers.get('idempotency-replayed')).toBeNull();
    expect(await comments()).toBe(before + 3);
    const second = await keyed.app.secondWorkspace();
    expect((await comment(key, undefined, second.token)).status).toBe(404);
    const other = await keyed.app.tokenFor({ userAccountId: ada.uuid });
    expect((await comment(key, undefined, other)).headers.get('idempotency-replayed')).toBe('true');
  });

  it('is refused to a token of the member with other scopes, which may not read the stored answer', async () => {
    const key = keyed.newKey();
    const { ada } = keyed.world;
    const narrow = await keyed.app.tokenFor({ userAccountId: ada.uuid, scopes: ['issues:write'] });
    expect((await comment(key, undefined, ada.token)).status).toBe(201);
    expect(await comment(key, undefined, narrow)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    });
  });

  it('identifies the meaning of a request, not its spelling', async () => {
    const key = keyed.newKey();
    const { body } = await comment(key, { body: 'Said.', parentCommentId: null });
    const respelled = '{\n "unknown": 1, "parentCommentId": null,\n "body": "Sa\\u0069d." }';
    expect(await comment(key, respelled)).toMatchObject({ status: 201, body });
    expect((await keyed.rest('DELETE', `/v1/issues/${issue}`, key)).status).toBe(422);
  });

  it('of a guest’s refused write is not kept', async () => {
    const key = keyed.newKey();
    const { guest } = keyed.world;
    const patch = (token: string) => keyed.rest('PATCH', `/v1/issues/${issue}`, key, { priority: 2 }, token);
    expect((await patch(guest.token)).status).toBe(403);
    expect((await comment(key, undefined, guest.token)).status).toBe(201);
  });

  it.each([['a b'], ['ü'], ['x'.repeat(256)], ['']])('%j is refused as a key', async (key) => {
    const before = await keyed.tables();
    const { status, body } = await comment(key);
    expect([status, body]).toMatchObject([
      400,
      { code: 'invalid_request', errors: [{ field: 'Idempotency-Key' }] },
    ]);
    const query = 'mutation { issueSubscribe(input: { key: "ENG-1" }) { issue { id } } }';
    expect((await keyed.graph(query, {}, key)).body.errors?.[0]?.extensions).toMatchObject({
      code: 'INVALID_REQUEST',
      errors: [{ field: 'Idempotency-Key' }],
    });
    expect(await keyed.tables()).toEqual(before);
  });

  it('may have 255 characters, and is ignored on a read', async () => {
    const key = '"'.repeat(255);
    expect((await comment(key)).status).toBe(201);
    expect((await keyed.rest('GET', `/v1/issues/${issue}`, 'a b')).status).toBe(200);
    expect((await keyed.graph('{ viewer { scopes } }', {}, 'a b')).body.errors).toBeUndefined();
    expect(
      (await keyed.graph('{ viewer { scopes } }', {}, key)).headers.get('idempotency-replayed'),
    ).toBeNull();
  });

  it('expires after 24 hours, whether it has been deleted by then or not', async () => {
    const [before, key] = [await comments(), keyed.newKey()];
    await comment(key);
    await age(key, 24 * hourMs - 60_000);
    expect((await comment(key)).headers.get('idempotency-replayed')).toBe('true');
    await age(key, 24 * hourMs);
    const anew = await comment(key, { body: 'Anew.' });
    expect([anew.status, anew.headers.get('idempotency-replayed')]).toEqual([201, null]);
    expect((await comment(key, { body: 'Anew.' })).body).toEqual(anew.body);
    expect(await comments()).toBe(before + 2);
  });

  it('is deleted after its expiry, in batches', async () => {
    const { unscoped } = keyed.app.database;
    const key = keyed.newKey();
    await comment(key);
    await sql`insert into idempotency_key select workspace_id, user_account_id, key || n, request_hash, result,
      now() - interval '25 hours' from idempotency_key, generate_series(1, 2100) n where key = ${key}`.execute(
      unscoped,
    );
    const logged: unknown[] = [];
    const logger = {
      info: (object: unknown) => logged.push(object),
      warn: (object: unknown) => logged.push(object),
    };
    await tidy([oldKeys(keyed.app.database)], logger);
    expect(logged).toEqual([{ done: 2100 }]);
    expect((await comment(key)).headers.get('idempotency-replayed')).toBe('true');
  });
});

describe('an operation with a key', () => {
  const subscribe = 'issueSubscribe(input: { key: "ENG-1" }) { issue { id } }';

  it.each([
    ['two mutations', `mutation { a: ${subscribe} b: ${subscribe} }`],
    [
      'a second one in a fragment',
      `mutation { ${subscribe} ...F } fragment F on Mutation { b: ${subscribe} }`,
    ],
    ['none that is left', `mutation { a: ${subscribe.replace('{ issue', '@skip(if: true) { issue')} }`],
  ])('is refused with %s', async (_what, query) => {
    const before = await keyed.tables();
    const { body } = await keyed.graph(query, {}, keyed.newKey());
    expect(body).toMatchObject({ errors: [{ extensions: { code: 'INVALID_REQUEST' } }] });
    expect(body.errors?.[0]?.message).toContain('exactly one mutation');
    expect(await keyed.tables()).toEqual(before);
  });

  it.each([
    ['the same field twice', `mutation { ${subscribe} ${subscribe} }`],
    ['__typename', `mutation { __typename ${subscribe} }`],
    [
      'what @skip leaves out',
      `mutation { ${subscribe} b: ${subscribe.replace('{ issue', '@skip(if: true) { issue')} }`,
    ],
  ])('is accepted with %s', async (_what, query) => {
    const key = keyed.newKey();
    const first = await keyed.graph(query, {}, key);
    expect(first.body.errors).toBeUndefined();
    expect((await keyed.graph(query, {}, key)).body).toEqual(first.body);
  });

  it('is rolled back as a whole when any of its fields fails', async () => {
    const before = await keyed.tables();
    const query = `mutation { commentCreate(input: { issueKey: "${issue}", body: "Said." }) {
      issue { comments(after: "garbage") { totalCount nodes { id } } } } }`;
    const { body } = await keyed.graph(query, {}, keyed.newKey());
    expect(body.errors).toMatchObject([{ extensions: { code: 'INVALID_REQUEST' } }]);
    expect(await keyed.tables()).toEqual(before);
  });

  it('is refused when its answer is too large to be kept', async () => {
    const before = await keyed.tables();
    const words = 'word '.repeat(9_000);
    const names = Array.from({ length: 40 }, (_, n) => `a${n}: description`).join(' ');
    const query = `mutation ($words: String!) { issueUpdate(input: { key: "${issue}", description: $words }) { issue { ${names} } } }`;
    const { body } = await keyed.graph(query, { words }, keyed.newKey());
    expect(body).toMatchObject({ errors: [{ extensions: { code: 'INVALID_REQUEST' } }] });
    expect(await keyed.tables()).toEqual(before);
  });

  it('has the HTTP status of the refusal where the client accepts that', async () => {
    const key = keyed.newKey();
    const send = (text: string) =>
      keyed.app.request('POST', '/graphql', {
        body: {
          query: `mutation { commentCreate(input: { issueKey: "${issue}", body: "${text}" }) { comment { id } } }`,
        },
        headers: { 'Idempotency-Key': key, Accept: 'application/graphql-response+json' },
      });
    expect([(await send('a')).status, (await send('b')).status, (await send('a')).status]).toEqual([
      200, 422, 200,
    ]);
  });

  it('takes three statements more than without a key, and when replayed two more than an empty query', async () => {
    // No reference data: it is cached in memory, but a transaction does not read it from there.
    const query = `mutation { commentCreate(input: { issueKey: "${issue}", body: "Said." }) { issue { title labels { id } } } }`;
    const plain = await keyed.app.graphql(query);
    const look = await keyed.app.graphql('{ viewer { scopes } }');
    const key = keyed.newKey();
    const counted = [await keyed.graph(query, {}, key), await keyed.graph(query, {}, key)];
    expect(counted.map(({ statements }) => statements)).toEqual([plain.statements + 3, look.statements + 2]);
  });
});

it('concurrent writes with and without keys to the same issues stay separate and complete', async () => {
  const { database } = keyed.app;
  const before = await comments();
  const answers = await Promise.all(
    Array.from({ length: 36 }, (_, n) => {
      const headers: Record<string, string> = n % 3 === 0 ? {} : { 'Idempotency-Key': `many-${n - (n % 2)}` };
      const path = n % 5 === 4 ? `/v1/issues` : `/v1/issues/${issue}/comments`;
      const body =
        n % 5 === 4
          ? { teamId: keyed.world.eng.id, title: 'New', description: '', priority: 0 }
          : { body: 'Said.' };
      return keyed.app.request('POST', path, { body, headers });
    }),
  );
  const created = answers.filter(
    ({ status, headers }) => status === 201 && !headers.get('idempotency-replayed'),
  );
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused.every(({ status }) => status === 409 || status === 422)).toBe(true);
  const commented = created.filter(({ body }) => JSON.stringify(body).includes('Said.'));
  expect(await comments()).toBe(before + commented.length);
  expect(await brokenInvariants(database)).toEqual({});
});

it('a used key is replayed or refused also where its comment shares a statement with others', async () => {
  const [used, conflicting] = [keyed.newKey(), keyed.newKey()];
  const first = await comment(used);
  await comment(conflicting, { body: 'Another.' });
  const before = await comments();
  // While the first of them is written, the others wait, and are then sent together.
  const [again, other, ...free] = await Promise.all([
    comment(used),
    comment(conflicting, { body: 'Not written.' }),
    ...Array.from({ length: 6 }, () => comment(keyed.newKey(), { body: 'Free.' })),
    keyed.app.request('POST', `/v1/issues/${issue}/comments`, { body: { body: 'Without a key.' } }),
  ]);
  expect(again).toMatchObject({ status: 201, body: first.body });
  expect(again?.headers.get('idempotency-replayed')).toBe('true');
  expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
  expect(free.map(({ status }) => status)).toEqual(Array.from({ length: 7 }, () => 201));
  expect(await comments()).toBe(before + 7);
});

/** Sets the age of a key. */
async function age(key: string, ageMs: number): Promise<void> {
  const createdUtc = new Date(Date.now() - ageMs).toISOString();
  const { unscoped } = keyed.app.database;
  await sql`update idempotency_key set created_utc = ${createdUtc} where key = ${key}`.execute(unscoped);
}
