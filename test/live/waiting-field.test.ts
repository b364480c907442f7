import { describe, expect, it } from '@jest/globals';
import { onStatement } from '../../src/db/engine/meter.ts';
import { isGraphqlJs } from '../support/chosen-executor.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { newestCursor } from './subscribing.ts';

const { app, world, ada } = useIssueWorld({
  changesRows: true,
  settings: { CHANGES_WAIT_MS: '25000' },
});

const onCompiled = isGraphqlJs ? it.skip : it;

const newIssue = () => ada.create({ teamId: world.eng.id, title: 'An issue' });

describe('an operation with a field that waits', () => {
  const wait = 'after: $after, waitSeconds: 25';

  it('may have only one, under any name', async () => {
    const two = `query ($after: String, $seconds: Int) {
      a: changes(${wait}) { cursor } b: changes(after: $after, waitSeconds: $seconds) { cursor }
    }`;
    const after = await newestCursor(app);
    const { body } = await app.graphql(two, { after, seconds: 1 });
    expect(body).toMatchObject({
      errors: [{ extensions: { code: 'INVALID_REQUEST', errors: [{ field: 'waitSeconds' }] } }],
    });
    expect(body).not.toHaveProperty('data');
    const waiting = app.graphql(two, { after, seconds: 0 });
    await newIssue();
    expect(await waiting).toMatchObject({ body: { data: { b: { cursor: after } } } });
  });

  it('may select it twice', async () => {
    const after = await newestCursor(app);
    const query = `query ($after: String) { changes(${wait}) { cursor } ... { changes(${wait}) { hasMore } } }`;
    const waiting = app.graphql(query, { after });
    await newIssue();
    expect(await waiting).toMatchObject({ body: { data: { changes: { hasMore: false } } } });
  });

  onCompiled('reads its other fields first, because it is not in progress while it waits', async () => {
    const { key } = await newIssue();
    const after = await newestCursor(app);
    const query = `query ($after: String, $key: String!) { changes(${wait}) { cursor } issue(key: $key) { title } }`;
    const statements: string[] = [];
    const stop = onStatement(({ sql }) => void statements.push(sql));
    const waiting = app.graphql(query, { after, key });
    await newIssue();
    const { body } = await waiting;
    stop();
    expect(body).toMatchObject({ data: { issue: { title: 'An issue' } } });
    const indexOf = (start: string) => statements.findIndex((sql) => sql.startsWith(start));
    const [title, log] = [indexOf('select "r0"."title"'), indexOf('with "head"')];
    expect([title, log]).not.toContain(-1);
    expect(title).toBeLessThan(log);
  });

  onCompiled(
    'answers at once if graphql-js has to answer it, so that it keeps no others waiting',
    async () => {
      const after = await newestCursor(app);
      const query = `query ($after: String) { changes(${wait}) { cursor } node(id: "unreadable") { id } }`;
      expect(await app.graphql(query, { after })).toMatchObject({
        body: { data: { changes: { cursor: after }, node: null } },
      });
    },
  );
});
