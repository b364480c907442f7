import { describe, expect, it } from '@jest/globals';
import { Random } from '../support/random.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { nextListEvent, followList } from './list-events.ts';
import { numberAllChanges } from './logged.ts';
import { newestCursor, nextAnswer, untilCaughtUp } from './subscribing.ts';

const { app, world, ada } = useIssueWorld({
  changesRows: true,
  settings: { STREAMS_PER_TOKEN: '300', MAX_OPERATION_COST: '10000' },
});

const follow = (filter: object, after?: string) => followList(app, world.ada.token, { filter, after });

const newIssue = (fields: object = {}) => ada.create({ teamId: world.eng.id, title: 'An issue', ...fields });
const urgent = { priority: { eq: 'URGENT' } };

describe('subscription { issues }', () => {
  it('sends what enters a list, changes in it and leaves it, and nothing about other issues', async () => {
    const stream = await follow(urgent);
    const { key, id } = await newIssue();
    await ada.update(key, { title: 'Another' });
    // An event shows the issue as it is when it is read, and not as it was after each change.
    await untilCaughtUp(app, stream);
    await ada.update(key, { priority: 'URGENT' });
    expect(await nextListEvent(stream)).toMatchObject({ kind: 'ENTERED', issueId: id, issue: { key } });
    await ada.mutate('commentCreate', { issueKey: key, body: 'Said.' });
    expect(await nextListEvent(stream)).toMatchObject({
      kind: 'CHANGED',
      issueId: id,
      changes: [{ eventType: 'issue-comment.created.v1' }],
    });
    await ada.update(key, { priority: 'LOW' });
    expect(await nextListEvent(stream)).toMatchObject({ kind: 'LEFT', issueId: id, issue: { key } });
    await ada.update(key, { title: 'Yet another' });
    await untilCaughtUp(app, stream);
    const other = await newIssue({ priority: 'URGENT' });
    expect(await nextListEvent(stream)).toMatchObject({ kind: 'ENTERED', issueId: other.id });
    await ada.mutate('issueDelete', { key: other.key });
    expect(await nextListEvent(stream)).toMatchObject({ kind: 'LEFT', issueId: other.id, issue: null });
    stream.stop();
  });

  it('sends several waiting changes of an issue as one event', async () => {
    const start = await newestCursor(app);
    const { key, id } = await newIssue({ priority: 'URGENT' });
    await ada.update(key, { title: 'Another' });
    await numberAllChanges(app.database);
    const stream = await follow(urgent, start);
    const event = await nextListEvent(stream);
    expect(event).toMatchObject({ kind: 'ENTERED', issueId: id, issue: { title: 'Another' } });
    expect(event.changes.map(({ eventType }) => eventType)).toEqual(['issue.created.v1', 'issue.updated.v1']);
    stream.stop();
  });

  it.each([
    ['the labels', { labels: { some: { id: { eq: 'LABEL' } } } }, { labelIds: ['LABEL'] }, { labelIds: [] }],
    [
      'the assignees',
      { assignees: { some: { role: { eq: 'MEMBER' } } } },
      { assigneeUserAccountIds: ['ADA'] },
      { assigneeUserAccountIds: [] },
    ],
    ['no label', { labels: { none: {} } }, { labelIds: [] }, { labelIds: ['LABEL'] }],
    ['the title', { title: { contains: 'ÉLAN' } }, { title: 'elan vital' }, { title: 'None' }],
    ['the estimate', { not: { estimateValue: { lt: 3 } } }, { estimateValue: 5 }, { estimateValue: 1 }],
    ['the due date', { dueDate: { isNull: false } }, { dueDate: '2026-02-11' }, { dueDate: null }],
    [
      'the parent',
      { parentIssueId: { isNull: false } },
      { parentIssueId: 'PARENT' },
      { parentIssueId: null },
    ],
    [
      'the time of the update',
      { updatedUtc: { gte: '2020-01-01T00:00:00Z' } },
      { title: 'Other' },
      undefined,
    ],
  ] as const)(
    'sends what enters and leaves a list that is filtered by %s',
    async (_what, filter, entering, leaving) => {
      const parent = await newIssue();
      const withIds = <Value>(value: Value) =>
        JSON.parse(
          JSON.stringify(value)
            .replaceAll('LABEL', world.shared)
            .replaceAll('ADA', world.ada.id)
            .replaceAll('PARENT', parent.id),
        ) as Record<string, unknown>;
      const { key, id } = await newIssue({ estimateValue: 1, labelIds: [world.shared] });
      const stream = await follow(withIds(filter), await newestCursor(app));
      await ada.update(key, withIds(entering));
      let event = await nextListEvent(stream);
      while (event.issueId !== id) event = await nextListEvent(stream);
      expect(event).toMatchObject({ kind: 'ENTERED', issueId: id });
      if (leaving) {
        await ada.update(key, withIds(leaving));
        event = await nextListEvent(stream);
        while (event.issueId !== id) event = await nextListEvent(stream);
        expect(event).toMatchObject({ kind: 'LEFT', issueId: id });
      }
      stream.stop();
    },
  );

  it('loses no event when it continues from any of them', async () => {
    const start = await newestCursor(app);
    const [one, two] = [await newIssue(), await newIssue()];
    // The first change of the second issue is before the last one of the first.
    await ada.update(two.key, { priority: 'URGENT' });
    await ada.update(one.key, { priority: 'URGENT' });
    await ada.mutate('commentCreate', { issueKey: one.key, body: 'Said.' });
    await ada.mutate('commentCreate', { issueKey: two.key, body: 'Said.' });
    await numberAllChanges(app.database);
    const all = await follow(urgent, start);
    const [first, second] = [await nextListEvent(all), await nextListEvent(all)];
    all.stop();
    expect([first.issueId, second.issueId]).toEqual([one.id, two.id]);
    const again = await follow(urgent, first.cursor);
    const kinds = new Map<string, string>();
    while (!kinds.has(two.id)) {
      const { issueId, kind } = await nextListEvent(again);
      kinds.set(issueId, kind);
    }
    expect(kinds.get(two.id)).toBe('ENTERED');
    again.stop();
    const end = await follow(urgent, second.cursor);
    const { key } = await newIssue({ priority: 'URGENT' });
    expect(await nextListEvent(end)).toMatchObject({ issue: { key } });
    end.stop();
  });

  it('tells the client to read the list again when an object that its filter asks about was changed', async () => {
    const stream = await follow({ status: { isTerminal: { eq: false } } }, await newestCursor(app));
    const unaffected = await follow(urgent, await newestCursor(app));
    await app.database
      .of(app.workspaceId)
      .insertInto('changeInbox')
      .values({
        changeId: world.eng.uuid.replace(/^.{8}/, '00000009'),
        eventType: 'status.updated.v1',
        occurredUtc: new Date(),
        actorUserAccountId: null,
        issueId: null,
        teamId: null,
        subjectId: world.eng.uuid,
        origin: 3,
        requestId: null,
      })
      .execute();
    await numberAllChanges(app.database);
    const { answer, id } = await nextAnswer(stream);
    const cursor = await newestCursor(app);
    expect(answer).toEqual({ data: { issues: null }, extensions: { reset: true, cursor } });
    expect(id).toBe(cursor);
    const { key } = await newIssue({ priority: 'URGENT' });
    expect(await nextListEvent(stream)).toMatchObject({ issue: { key } });
    expect(await nextListEvent(unaffected)).toMatchObject({ issue: { key } });
    for (const opened of [stream, unaffected]) opened.stop();
  });

  it('refuses an id of something else in its filter', async () => {
    const query = `subscription { issues(filter: { teamId: { eq: "${world.ada.id}" } }) { kind } }`;
    const headers = { accept: 'text/event-stream' };
    const { status, body } = await app.request('POST', '/graphql', { body: { query }, headers });
    expect({ status, code: JSON.stringify(body) }).toEqual({
      status: 400,
      code: expect.stringContaining('"code":"INVALID_REQUEST"'),
    });
  });

  it('refuses a filter by other issues', async () => {
    const { response } = await follow({ or: [{ parent: { title: { eq: 'A' } } }] });
    expect(response.status).toBe(400);
  });

  it('keeps lists of many filters equal to what a query finds, whatever is written', async () => {
    const random = new Random('writes to live lists');
    const priorities = ['URGENT', 'HIGH', 'MEDIUM', 'LOW'];
    const conditions = () => [
      { priority: { in: random.sample(priorities, 2) } },
      { status: { isTerminal: { eq: random.chance(0.5) } } },
      { labels: { some: { id: { eq: world.shared } } } },
      { title: { contains: random.pick(['one', 'two']) } },
      { estimateValue: { gte: random.integer(1, 5) } },
      { assignees: { some: { userAccountId: { eq: world.ada.id } } } },
      { dueDate: { isNull: random.chance(0.5) } },
    ];
    const start = await newestCursor(app);
    const lists = await Promise.all(
      Array.from({ length: 16 }, async () => {
        const [first, second, third] = random.sample(conditions(), 3);
        const filter = { ...first, or: [second, { not: third }] };
        return { filter, ids: new Set<string>(), stream: await follow(filter, start) };
      }),
    );
    const createdIds: string[] = [];
    const fields = () =>
      Object.fromEntries(
        random.sample(
          [
            ['priority', random.pick(priorities)],
            ['title', random.pick(['one', 'two', 'three'])],
            ['estimateValue', random.pick([null, 1, 3, 8])],
            ['labelIds', random.pick([[], [world.shared]])],
            ['assigneeUserAccountIds', random.pick([[], [world.ada.id]])],
            ['dueDate', random.pick([null, '2026-03-01'])],
          ],
          random.integer(1, 3),
        ),
      ) as Record<string, unknown>;
    const keys: string[] = [];
    for (let write = 0; write < 60; write += 1) {
      const draw = random.integer(1, 10);
      if (keys.length < 5 || draw <= 3) {
        const { key, id } = await newIssue(fields());
        keys.push(key);
        createdIds.push(id);
      } else if (draw === 4) await ada.mutate('issueDelete', { key: keys.pop() ?? '' });
      else if (draw === 5) await ada.mutate('commentCreate', { issueKey: random.pick(keys), body: '-' });
      else await ada.update(random.pick(keys), fields());
    }
    for (const { filter, ids, stream } of lists) {
      await untilCaughtUp(app, stream);
      while (stream.count() > 0) {
        const { kind, issueId } = await nextListEvent(stream);
        if (kind === 'LEFT') ids.delete(issueId);
        else ids.add(issueId);
      }
      stream.stop();
      const { body } = await app.graphql<{ issues: { nodes: { id: string }[] } }>(
        'query ($filter: IssueFilter) { issues(first: 250, filter: $filter) { nodes { id } } }',
        { filter },
        { token: world.ada.token },
      );
      const found = body.data?.issues.nodes.map(({ id }) => id).filter((id) => createdIds.includes(id));
      expect([filter, [...ids].toSorted()]).toEqual([filter, found?.toSorted()]);
    }
  });

  it('continues a list without gaps under concurrent writes', async () => {
    const writes = Array.from({ length: 20 }, () => newIssue({ priority: 'URGENT' }));
    const { body } = await app.graphql<{
      workspace: { changeCursor: string };
      issues: { nodes: { id: string }[] };
    }>(
      'query ($filter: IssueFilter) { issues(first: 250, filter: $filter) { nodes { id } } workspace { changeCursor } }',
      { filter: urgent },
    );
    const receivedIds = new Set(body.data?.issues.nodes.map(({ id }) => id));
    const stream = await follow(urgent, body.data?.workspace.changeCursor);
    const writtenIds = (await Promise.all(writes)).map(({ id }) => id);
    while (!writtenIds.every((id) => receivedIds.has(id)))
      receivedIds.add((await nextListEvent(stream)).issueId);
    expect(receivedIds).toEqual(new Set([...receivedIds, ...writtenIds]));
    stream.stop();
  });
});
