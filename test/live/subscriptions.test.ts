import { describe, expect, it } from '@jest/globals';
import { strange } from '../inputs/texts.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { numberAllChanges } from './logged.ts';
import { newestCursor, nextAnswer, subscribe as openSubscription, type StreamAnswer } from './subscribing.ts';
import { revokeToken } from '../support/revoke-token.ts';

const { app, world, ada } = useIssueWorld({
  settings: { STREAMS_PER_TOKEN: '8', MAX_OPERATION_COST: '10000', COST_PER_HOUR: '20000' },
});

const newIssue = () => ada.create({ teamId: world.eng.id, title: 'An issue' });

const selection = 'cursor eventType subjectId issue { key title status { name } } actor { displayName }';
const document = `subscription ($after: String, $filter: ChangeFilter) {
  changes(after: $after, filter: $filter) { ${selection} }
}`;

interface Options {
  token?: string;
  headers?: Record<string, string>;
  method?: 'GET' | 'POST';
}

const subscribe = (query: string, variables: object = {}, options: Options = {}) =>
  openSubscription(app, query, variables, { token: world.ada.token, ...options });

/** The answer to a subscription that is refused. */
async function refusalOf(
  query: string,
  variables: object = {},
  { token = world.ada.token, headers = {} }: Options = {},
) {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      Accept: 'text/event-stream',
      'Content-Type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ query, variables }),
  });
  const { errors } = (await response.json()) as Required<StreamAnswer>;
  return { status: response.status, code: errors[0]?.extensions.code, message: errors[0]?.message ?? '' };
}

describe('subscription { changes }', () => {
  it.each(['POST', 'GET'] as const)('sends each change as it is made, by %s', async (method) => {
    const stream = await subscribe(document, {}, { method });
    expect(stream.response.status).toBe(200);
    expect(stream.response.headers.get('Content-Type')).toBe('text/event-stream; charset=utf-8');
    expect(stream.response.headers.get('Cache-Control')).toContain('no-transform');
    const { key, id } = await newIssue();
    const created = await nextAnswer(stream);
    expect(created.type).toBe('next');
    expect(created.answer).toEqual({
      data: {
        changes: {
          cursor: created.id,
          eventType: 'issue.created.v1',
          subjectId: id,
          issue: { key, title: 'An issue', status: { name: expect.any(String) } },
          actor: { displayName: 'Ada Member' },
        },
      },
    });
    await ada.mutate('commentCreate', { issueKey: key, body: 'Said.' });
    expect((await nextAnswer(stream)).answer.data?.changes?.eventType).toBe('issue-comment.created.v1');
    stream.stop();
  });

  it('resumes from Last-Event-ID rather than from its argument, without loss or repetition', async () => {
    const start = await newestCursor(app);
    const { key } = await newIssue();
    for (const body of ['One', 'Two', 'Three']) await ada.mutate('commentCreate', { issueKey: key, body });
    const first = await subscribe(document, { after: start });
    const seen = [await nextAnswer(first), await nextAnswer(first)];
    first.stop();
    const headers = { 'Last-Event-ID': seen[1]?.id ?? '' };
    const second = await subscribe(document, { after: start }, { headers });
    seen.push(await nextAnswer(second), await nextAnswer(second));
    second.stop();
    const positions = seen.map(({ id }) => Number(id.split('-')[1]));
    expect(positions.map((position) => position - (positions[0] ?? 0))).toEqual([0, 1, 2, 3]);
  });

  it('sends only what matches the filter, and its id still advances', async () => {
    const filter = { eventType: { eq: 'issue-comment.created.v1' } };
    const stream = await subscribe(document, { after: await newestCursor(app), filter });
    const { key } = await newIssue();
    await ada.mutate('commentCreate', { issueKey: key, body: 'Said.' });
    expect((await nextAnswer(stream)).answer.data?.changes?.eventType).toBe('issue-comment.created.v1');
    expect(stream.lastId()).toBe(await newestCursor(app));
    stream.stop();
  });

  it('answers many changes at once with the statements of few', async () => {
    const start = await newestCursor(app);
    for (let count = 0; count < 30; count += 1) await newIssue();
    await numberAllChanges(app.database);
    const stream = await subscribe(document, { after: start });
    const subjects = [];
    for (let count = 0; count < 30; count += 1)
      subjects.push((await nextAnswer(stream)).answer.data?.changes?.subjectId);
    stream.stop();
    expect(new Set(subjects).size).toBe(30);
  });
});

describe('a subscription that is refused', () => {
  it.each([
    ['with an invalid document', 'subscription { changes { nothing } }', 'GRAPHQL_VALIDATION_FAILED'],
    [
      'with two root fields',
      'subscription { a: changes { id } b: changes { id } }',
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'that is too deep',
      `subscription { changes { issue { ${'parent { '.repeat(15)} id ${'} '.repeat(15)} } } }`,
      'QUERY_TOO_COMPLEX',
    ],
  ])('%s is 400', async (_what, query, code) => {
    expect(await refusalOf(query)).toMatchObject({ status: 400, code });
  });

  it.each([
    ['of the wrong type', '$a: String', { a: 5 }],
    ['that is missing', '$a: String!', {}],
    ['with an unknown field', '$a: String, $f: ChangeFilter', { f: { nothing: 1 } }],
  ])('because of a variable %s is 400', async (_what, declared, variables) => {
    const query = `subscription (${declared}) { changes(after: $a) { id } }`;
    const { status, code } = await refusalOf(query, variables);
    expect({ status, code }).toEqual({ status: 400, code: 'GRAPHQL_VALIDATION_FAILED' });
  });

  // Its arguments would choose the events although its scopes are not checked.
  it.each([
    '($no: Boolean!) { issues(filter: { reporter: { emailAddress: { contains: "@" } } }) @include(if: $no) { kind } }',
    '($no: Boolean!) { changes @skip(if: true) { id } issues { kind } }',
    '($no: Boolean!) { ... @skip(if: $no) { changes { id } } }',
    '($no: Boolean!) { ...Root @include(if: $no) } fragment Root on Subscription { changes { id } }',
    '($no: Boolean!) { ...Root } fragment Root on Subscription { changes @include(if: $no) { id } }',
  ])('because its root can be excluded is 400: %s', async (text) => {
    const token = await app.tokenFor({ scopes: ['issues:read'] });
    expect(await refusalOf(`subscription ${text}`, { no: false }, { token })).toEqual({
      status: 400,
      code: 'GRAPHQL_VALIDATION_FAILED',
      message:
        'The field of a subscription cannot have @skip or @include, and neither can a fragment around it.',
    });
  });

  it('is accepted with an excluded field below its root', async () => {
    const stream = await subscribe('subscription { changes { id @skip(if: true) cursor } }');
    await newIssue();
    expect((await nextAnswer(stream)).answer).toEqual({ data: { changes: { cursor: expect.any(String) } } });
    stream.stop();
  });

  it.each([
    ['without the scope', 'subscription { changes { issue { key } } }', 403, 'FORBIDDEN'],
    ['with an expired cursor', 'subscription { changes(after: "c1-1-zzz") { id } }', 410, 'CURSOR_EXPIRED'],
    [
      'with a cursor of something else',
      'subscription { changes(after: "x") { id } }',
      400,
      'INVALID_REQUEST',
    ],
    [
      'with an invalid filter',
      'subscription { changes(filter: { issueId: { eq: "x" } }) { id } }',
      400,
      'INVALID_REQUEST',
    ],
    [
      'where one event costs too much',
      'subscription { changes { team { issues(first: 250) { nodes { comments(first: 50) { nodes { id } } } } } } }',
      400,
      'QUERY_TOO_COMPLEX',
    ],
  ])('%s has the status of its error code', async (what, query, status, code) => {
    const token = await app.tokenFor(what === 'without the scope' ? { scopes: ['teams:read'] } : undefined);
    for (const accept of ['text/event-stream', '*/*', 'application/json, text/event-stream'])
      expect(await refusalOf(query, {}, { token, headers: { Accept: accept } })).toMatchObject({
        status,
        code,
      });
  });

  it('with too many streams of its token is 429', async () => {
    const token = await app.tokenFor();
    const streams = await Promise.all(Array.from({ length: 8 }, () => subscribe(document, {}, { token })));
    expect(await refusalOf(document, {}, { token })).toMatchObject({ status: 429, code: 'TOO_MANY_STREAMS' });
    for (const stream of streams) stream.stop();
  });

  it('with an Accept that allows no stream is 406', async () => {
    const answer = await refusalOf(document, {}, { headers: { Accept: 'application/json' } });
    expect(answer).toMatchObject({ status: 406, code: 'NOT_ACCEPTABLE' });
  });

  it('with an invalid cursor is 400, whatever its characters', async () => {
    const statuses = new Set<number>();
    for (const text of strange) {
      for (const root of ['changes', 'issues']) {
        const query = `subscription ($after: String) { ${root}(after: $after) { cursor } }`;
        if (text !== '') statuses.add((await refusalOf(query, { after: text })).status);
      }
      if (text === '' || !/^[\x21-\x7e]+$/.test(text) || text.length > 5_000) continue;
      statuses.add((await refusalOf(document, {}, { headers: { 'Last-Event-ID': text } })).status);
    }
    expect([...statuses]).toEqual([400]);
  });

  it('by GET has the status of its error code, too', async () => {
    const query = encodeURIComponent('subscription { changes(after: "c1-1-zzz") { id } }');
    const response = await fetch(`${app.url}/graphql?query=${query}`, {
      headers: { Authorization: `Bearer ${world.ada.token}`, Accept: '*/*' },
    });
    expect(response.status).toBe(410);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'CURSOR_EXPIRED' } }] });
  });

  it('in a batch is 400', async () => {
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${world.ada.token}`,
        'Content-Type': 'application/json',
        Accept: 'text/event-stream',
      },
      body: JSON.stringify([{ query: document }]),
    });
    expect(response.status).toBe(400);
  });
});

describe('a subscription that has begun', () => {
  it('charges the objects of its events to each token, although equal subscriptions are read together', async () => {
    const tokens = [await app.tokenFor(), await app.tokenFor()];
    const remainingCost = async (token: string) => {
      const { body } = await app.graphql<{ viewer: { rateLimit: { cost: { remaining: number } } } }>(
        '{ viewer { rateLimit { cost { remaining } } } }',
        {},
        { token },
      );
      return body.data?.viewer.rateLimit.cost.remaining ?? 0;
    };
    const start = await newestCursor(app);
    const streams = await Promise.all(
      tokens.map((token) => subscribe(document, { after: start }, { token })),
    );
    await Promise.all(tokens.map(remainingCost));
    await ada.create({ teamId: world.eng.id, title: 'One' });
    for (const stream of streams) await nextAnswer(stream);
    const before = await Promise.all(tokens.map(remainingCost));
    for (let count = 0; count < 20; count += 1) await newIssue();
    for (const stream of streams) for (let count = 0; count < 20; count += 1) await nextAnswer(stream);
    const after = await Promise.all(tokens.map(remainingCost));
    // Twenty changes, each with its issue, the status of the issue and the actor. Meanwhile, the quota is refilled a little.
    for (const [index, remaining] of after.entries()) expect(remaining).toBeLessThan(before[index] ?? 0);
    for (const stream of streams) stream.stop();
  });

  it('ends with the error and `complete` when its token is revoked', async () => {
    const token = await app.tokenFor();
    const stream = await subscribe(document, {}, { token });
    await revokeToken(app, token);
    await newIssue();
    const { type, answer } = await nextAnswer(stream);
    expect({ type, code: answer.errors?.[0]?.extensions.code }).toEqual({
      type: 'next',
      code: 'UNAUTHENTICATED',
    });
    expect(await stream.next()).toMatchObject({ type: 'complete' });
    await stream.ended;
  });

  it('ends with the error and `complete` when the log starts over', async () => {
    await newIssue();
    const stream = await subscribe(document, { after: await newestCursor(app) });
    const log = app.database.of(app.workspaceId);
    const { position } = await log.selectFrom('changeHead').select('position').executeTakeFirstOrThrow();
    await log.updateTable('change').set({ tag: 77 }).where('position', '=', position).execute();
    await newIssue();
    const { answer } = await nextAnswer(stream);
    expect(answer.errors?.[0]?.extensions.code).toBe('CURSOR_EXPIRED');
    expect(await stream.next()).toMatchObject({ type: 'complete' });
  });

  it('sends nothing of other workspaces', async () => {
    const other = await app.secondWorkspace();
    const foreignStream = await subscribe(
      'subscription { changes(after: "c1-0-0") { id } }',
      {},
      { token: other.token },
    );
    await newIssue();
    await numberAllChanges(app.database);
    expect(foreignStream.lastId()).toBe('c1-0-0');
    foreignStream.stop();
  });
});

describe('a query for a client that accepts only events', () => {
  it('is answered with `next` and `complete`', async () => {
    const stream = await subscribe('{ viewer { member { displayName } } }');
    expect(await stream.next()).toMatchObject({
      type: 'next',
      data: { data: { viewer: { member: { displayName: 'Ada Member' } } } },
    });
    expect(await stream.next()).toMatchObject({ type: 'complete' });
    await stream.ended;
  });

  it('that is refused has the status of the error', async () => {
    expect(await refusalOf('{ nothing }')).toMatchObject({ status: 400, code: 'GRAPHQL_VALIDATION_FAILED' });
  });
});
