import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type App, startApp } from '../support/app.ts';
import { installAgent, type IssueWorld, issueWorld } from '../support/issue-world.ts';

/** Invisible texts. Together they contain every character that JavaScript counts as white space. */
const blanks = [
  ' ',
  '\n',
  ' \t\v\f\r\n ',
  '\u00a0',
  '\u1680\u2000\u200a',
  '\u2028\u2029',
  '\u202f\u205f\u3000',
  ' \ufeff',
];

let app: App;
let world: IssueWorld;
let issueKey: string;
let commentId: string;
beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
  world = await issueWorld(app);
  await installAgent(app, world, world.agent);
  const issue = { teamId: world.eng.id, title: 'Here', description: '', priority: 0 };
  issueKey = (await app.request<{ key: string }>('POST', '/v1/issues', { body: issue })).body.key;
  const comment = { body: { body: 'Said.' } };
  commentId = (await app.request<{ id: string }>('POST', `/v1/issues/${issueKey}/comments`, comment)).body.id;
});
afterAll(() => app.stop());

const url = 'https://example.com/';
const action = { name: 'Go', key: 'go', color: '' };

/** The inputs whose text must not be blank: the name of the field, the REST request, and the mutation. */
const inputs: readonly (readonly [
  field: string,
  rest: readonly [method: string, path: () => string, body: (text: string) => object],
  graph: readonly [mutation: string, input: (text: string) => object],
])[] = [
  [
    'title',
    ['POST', () => '/v1/issues', (title) => ({ teamId: world.eng.id, title, description: '', priority: 0 })],
    ['issueCreate', (title) => ({ teamId: world.eng.id, title })],
  ],
  [
    'title',
    ['PATCH', () => `/v1/issues/${issueKey}`, (title) => ({ title })],
    ['issueUpdate', (title) => ({ key: issueKey, title })],
  ],
  [
    'body',
    ['POST', () => `/v1/issues/${issueKey}/comments`, (body) => ({ body })],
    ['commentCreate', (body) => ({ issueKey, body })],
  ],
  [
    'body',
    ['PATCH', () => `/v1/issues/${issueKey}/comments/${commentId}`, (body) => ({ body })],
    ['commentUpdate', (body) => ({ id: commentId, body })],
  ],
  [
    'title',
    ['POST', () => `/v1/issues/${issueKey}/links`, (title) => ({ url, title })],
    ['issueLinkCreate', (title) => ({ issueKey, url, title })],
  ],
  [
    'body',
    ['POST', () => `/v1/issues/${issueKey}/agent-thread/messages`, (body) => ({ body })],
    ['agentMessageCreate', (body) => ({ issueKey, body })],
  ],
  ...(['name', 'key'] as const).map(
    (part) =>
      [
        `followUpActions[0].${part}`,
        [
          'POST',
          () => `/v1/issues/${issueKey}/agent-thread/messages`,
          (text: string) => ({ body: 'Next?', followUpActions: [{ ...action, [part]: text }] }),
        ],
        [
          'agentMessageCreate',
          (text: string) => ({ issueKey, body: 'Next?', followUpActions: [{ ...action, [part]: text }] }),
        ],
      ] as const,
  ),
];

const message = 'must not be white space alone';

describe('a text of only white space', () => {
  it.each(inputs)('is refused as %s, over REST and over the graph', async (field, rest, graph) => {
    const [method, path, body] = rest;
    const [mutation, input] = graph;
    const type = `${mutation.slice(0, 1).toUpperCase()}${mutation.slice(1)}Input`;
    const document = `mutation ($input: ${type}!) { ${mutation}(input: $input) { __typename } }`;
    for (const blank of blanks) {
      const answer = await app.request(method, path(), { body: body(blank) });
      expect([blank, answer.status]).toEqual([blank, 400]);
      expect(answer.body).toMatchObject({ code: 'validation_failed', errors: [{ field, message }] });
      const { errors } = (await app.graphql(document, { input: input(blank) })).body;
      expect(errors).toMatchObject([
        { extensions: { code: 'VALIDATION_FAILED', errors: [{ field, message }] } },
      ]);
    }
    const shown = await app.request(method, path(), { body: body(' .\n') });
    expect(shown.status).toBeLessThan(300);
  });

  it('that was stored earlier remains readable, and can be replaced', async () => {
    const { unscoped: db } = app.database;
    await db
      .updateTable('comment')
      .set({ body: ' \n' })
      .where('workspaceId', '=', world.workspaceId)
      .execute();
    await db
      .updateTable('issueLink')
      .set({ title: ' ' })
      .where('workspaceId', '=', world.workspaceId)
      .execute();
    await db
      .updateTable('agentThreadMessage')
      .set({ body: '\u00a0' })
      .where('workspaceId', '=', world.workspaceId)
      .execute();
    const lists = { comments: 'body', links: 'title' } as const;
    for (const [list, field] of Object.entries(lists)) {
      const path = `/v1/issues/${issueKey}/${list}`;
      const { status, body } = await app.request<{ results: Record<string, unknown>[] }>('GET', path);
      expect([status, body.results.length > 0]).toEqual([200, true]);
      if (list === 'links') expect(body.results[0]?.[field]).toBe(' ');
    }
    const conversation = await app.request<{ messages: { body: string }[] }>(
      'GET',
      `/v1/issues/${issueKey}/agent-thread/messages`,
    );
    expect(conversation.body.messages.map(({ body }) => body)).toContain('\u00a0');
    const read = `{ issue(key: "${issueKey}") { comments { nodes { bodyText } } links { nodes { title } } } }`;
    expect((await app.graphql(read)).body.errors).toBeUndefined();
    const change = { body: { body: 'Said again.' } };
    const changed = await app.request('PATCH', `/v1/issues/${issueKey}/comments/${commentId}`, change);
    expect([changed.status, JSON.stringify(changed.body)]).toEqual([
      200,
      expect.stringContaining('Said again.'),
    ]);
  });
});
