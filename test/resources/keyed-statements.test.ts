import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { isGraphqlJs, startApp } from '../support/app.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { type KeyedWorld, keyedWorld } from '../support/keyed-writes.ts';

let keyed: KeyedWorld;
/** The key of the issue that the tests write to. */
let issue: string;
beforeAll(async () => {
  keyed = await keyedWorld(await startApp());
  issue = (await keyed.newObjects()).key;
});
afterAll(async () => {
  const broken = await brokenInvariants(keyed.app.database);
  await keyed.app.stop();
  expect(broken).toEqual({});
});

type Write = [method: string, path: string, body: object];

/** Writes that one statement does, with answers of all fields of REST. */
const writes: [what: string, write: () => Write][] = [
  [
    'a new issue',
    () => [
      'POST',
      '/v1/issues',
      {
        title: 'Ünicode “quoted” \\ \u0001',
        teamId: keyed.world.eng.id,
        description: 'Two\nlines',
        priority: 2,
        dueDate: '2026-03-02',
        estimateValue: 3,
        labelIds: [keyed.world.eng.bug],
        assigneeUserAccountIds: [keyed.world.ada.id],
      },
    ],
  ],
  ['a change of an issue', () => ['PATCH', `/v1/issues/${issue}`, { title: 'Other', priority: 3 }]],
  ['a comment', () => ['POST', `/v1/issues/${issue}/comments`, { body: 'Two\nlines.' }]],
];

async function statementsOf(send: () => Promise<{ status: number; statements: number }>): Promise<number> {
  const { status, statements } = await send();
  expect(status).toBeLessThan(300);
  return statements;
}

/** Does the work while answers cannot be added to keys. */
async function withoutAnswers<Result>(work: () => Promise<Result>): Promise<Result> {
  const { unscoped } = keyed.app.database;
  await sql`create function refuse_answers() returns trigger language plpgsql as
    $$ begin raise exception 'No answers.'; end $$`.execute(unscoped);
  await sql`create trigger refuse_answers before update on idempotency_key
    for each row execute function refuse_answers()`.execute(unscoped);
  try {
    return await work();
  } finally {
    await sql`drop trigger refuse_answers on idempotency_key`.execute(unscoped);
    await sql`drop function refuse_answers()`.execute(unscoped);
  }
}

async function keptUnder(key: string): Promise<{ answered: boolean; written: boolean } | undefined> {
  const { rows } = await sql<{ answered: boolean; written: boolean }>`
    select result is not null as answered, written is not null as written
    from idempotency_key where key = ${key}`.execute(keyed.app.database.unscoped);
  return rows[0];
}

/** With graphql-js, all writes with a key run in a transaction, as below. */
const onCompiled = isGraphqlJs ? it.skip : it;

describe.each(writes)('%s', (_what, write) => {
  onCompiled('takes one statement more with a key, which adds the answer', async () => {
    const [method, path, body] = write();
    const key = keyed.newKey();
    await statementsOf(() => keyed.app.request(method, path, { body }));
    const plain = await statementsOf(() => keyed.app.request(method, path, { body }));
    const withKey = await statementsOf(() => keyed.rest(method, path, key, body));
    expect(withKey).toBe(plain + 1);
    expect(await keptUnder(key)).toEqual({ answered: true, written: false });
  });

  onCompiled('is answered from its row when it is repeated and its answer was not kept', async () => {
    const [method, path, body] = write();
    const key = keyed.newKey();
    const first = await withoutAnswers(() => keyed.rest(method, path, key, body));
    expect([first.status < 300, first.headers.get('idempotency-replayed')]).toEqual([true, null]);
    expect(await keptUnder(key)).toEqual({ answered: false, written: true });
    // The row is that of the write, whatever happened since.
    await keyed.rest('PATCH', `/v1/issues/${issue}`, keyed.newKey(), { title: 'Later' });
    const before = await keyed.tables();
    const again = await withoutAnswers(() => keyed.rest(method, path, key, body));
    expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([
      first.status,
      first.body,
      'true',
    ]);
    expect(await keyed.tables()).toEqual(before);
    const third = await keyed.rest(method, path, key, body);
    expect(third.body).toEqual(first.body);
    expect(await keptUnder(key)).toEqual({ answered: true, written: false });
    expect((await keyed.rest(method, path, key, body)).body).toEqual(first.body);
  });

  it('refuses another request under its key before it has an answer', async () => {
    const [method, path, body] = write();
    const key = keyed.newKey();
    await withoutAnswers(() => keyed.rest(method, path, key, body));
    const other = await keyed.rest('POST', `/v1/issues/${issue}/comments`, key, { body: 'Something else.' });
    expect([other.status, other.body]).toMatchObject([422, { code: 'idempotency_key_reused' }]);
  });

  it('is written anew under a key that has expired', async () => {
    const [method, path, body] = write();
    const key = keyed.newKey();
    const first = await keyed.rest(method, path, key, body);
    const yesterday = new Date(Date.now() - 24 * 3_600_000);
    await sql`update idempotency_key set created_utc = ${yesterday} where key = ${key}`.execute(
      keyed.app.database.unscoped,
    );
    const anew = await keyed.rest(method, path, key, body);
    expect([anew.status, anew.headers.get('idempotency-replayed')]).toEqual([first.status, null]);
    expect(anew.body).not.toEqual(first.body);
  });
});

it('a comment that is a reply is answered from its row', async () => {
  const path = `/v1/issues/${issue}/comments`;
  const { body: parent } = await keyed.rest('POST', path, keyed.newKey(), { body: 'Parent.' });
  const [key, reply] = [keyed.newKey(), { body: 'Reply.', parentCommentId: parent.id }];
  const first = await withoutAnswers(() => keyed.rest('POST', path, key, reply));
  expect(first.body).toMatchObject({ parentCommentId: parent.id });
  expect((await keyed.rest('POST', path, key, reply)).body).toEqual(first.body);
});

it('writes of many keys share statements, and a key that is used twice at once is done once', async () => {
  const path = `/v1/issues/${issue}/comments`;
  const count = async () =>
    (await keyed.app.request<{ pagination: { totalCount: number } }>('GET', path)).body.pagination.totalCount;
  const before = await count();
  const send = (n: number) => keyed.rest('POST', path, `shared-${n % 20}`, { body: `Comment ${n % 20}.` });
  const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => send(n)));
  expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
  expect(await count()).toBe(before + 20);
  for (let n = 0; n < 20; n++) {
    const first = answers.find(({ status }, at) => status === 201 && at % 20 === n);
    expect((await send(n)).body).toEqual(first?.body);
  }
  expect(await count()).toBe(before + 20);
});

it('new issues of many keys have numbers without gaps, whichever keys are repeated', async () => {
  const send = (n: number) =>
    keyed.rest('POST', '/v1/issues', `numbered-${n}`, {
      title: `Issue ${n}`,
      teamId: keyed.world.eng.id,
      description: '',
      priority: 0,
    });
  await Promise.all(Array.from({ length: 8 }, (_, n) => send(2 * n)));
  const answers = await Promise.all(Array.from({ length: 16 }, (_, n) => send(n)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  const replayed = answers.map(({ headers }) => headers.get('idempotency-replayed'));
  expect(replayed).toEqual(answers.map((_, n) => (n % 2 === 0 ? 'true' : null)));
  const { rows } = await sql<{ gaps: number }>`
    select max(number) - min(number) + 1 - count(*)::int as gaps from issue
    where title like 'Issue %' and workspace_id = ${keyed.app.workspaceId}`.execute(
    keyed.app.database.unscoped,
  );
  expect(rows).toEqual([{ gaps: 0 }]);
});

describe('a transaction does the write', () => {
  const mutations: [what: string, query: () => string][] = [
    [
      'when the answer reads more than the row',
      () => `mutation { commentCreate(input: { issueKey: "${issue}", body: "Said." })
      { issue { comments(last: 1) { totalCount } } } }`,
    ],
    [
      'when the answer shows a field twice',
      () => `mutation { issueUpdate(input: { key: "${issue}", title: "Twice" })
      { issue { title again: title } } }`,
    ],
    [
      'when the change needs one',
      () => `mutation { issueUpdate(input: { key: "${issue}", labelIds: [] }) { issue { title } } }`,
    ],
    [
      'when a comment shows what belongs to its issue',
      () => `mutation { commentCreate(input: { issueKey: "${issue}", body: "Said." })
      { issue { labels { name } } } }`,
    ],
  ];
  it.each(mutations)('%s', async (_what, query) => {
    const key = keyed.newKey();
    const { body } = await withoutAnswers(() => keyed.graph(query(), {}, key));
    expect(body.errors).toBeUndefined();
    // Its answer is kept with it.
    expect(await keptUnder(key)).toEqual({ answered: true, written: false });
  });
});
