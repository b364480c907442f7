import { describe, expect, it } from '@jest/globals';
import { parseId } from '../../src/resolvers/ids.ts';
import { callerOf } from '../support/mutations.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';

const { app, world, ada } = useIssueWorld();

const create = (input: Record<string, unknown> = {}) =>
  ada.create({ teamId: world.eng.id, title: 'An issue', ...input });

describe('issueDelete', () => {
  it('makes the issue and all that hangs on it absent', async () => {
    const { key, id } = await create();
    const { comment } = await ada.mutate('commentCreate', { issueKey: key, body: 'Soon gone' });
    const { issueLink } = await ada.mutate('issueLinkCreate', {
      issueKey: key,
      url: 'https://a.test',
      title: 'A',
    });
    expect(await ada.mutate('issueDelete', { key })).toEqual({ deletedIssueId: id });
    expect(await ada.read(key)).toBeNull();
    const absent = { code: 'NOT_FOUND', message: 'There is no such issue.' };
    expect(await ada.refused('issueDelete', { key })).toMatchObject(absent);
    expect(await ada.refused('issueUpdate', { key, title: 'x' })).toMatchObject(absent);
    expect(await ada.refused('issueSubscribe', { key })).toMatchObject(absent);
    expect(await ada.refused('commentCreate', { issueKey: key, body: 'x' })).toMatchObject(absent);
    expect(await ada.refused('commentUpdate', { id: comment.id, body: 'x' })).toMatchObject({
      code: 'NOT_FOUND',
    });
    expect(await ada.refused('issueLinkDelete', { id: issueLink.id })).toMatchObject({ code: 'NOT_FOUND' });
    expect(
      await ada.violations('issueCreate', { teamId: world.eng.id, title: 'x', parentIssueId: id }),
    ).toEqual(['parentIssueId: does not belong to this workspace']);
    const { body } = await app.graphql('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: [id, comment.id, issueLink.id],
    });
    expect(body.data).toEqual({ nodes: [null, null, null] });
  });

  it('lowers the counts of its parent, and lets its sub-issues read as having none', async () => {
    const top = await create();
    const middle = await create({ parentIssueId: top.id });
    const bottom = await create({ parentIssueId: middle.id });
    await ada.mutate('issueDelete', { key: middle.key });
    expect(await ada.read(top.key)).toMatchObject({ subIssueCount: 0 });
    expect(await ada.read(bottom.key)).toMatchObject({ parentIssueId: null, revision: 2 });
  });

  it('does not give its number to another issue', async () => {
    const { key } = await create();
    await ada.mutate('issueDelete', { key });
    expect((await create()).key).not.toBe(key);
  });

  it('is for members, not for guests', async () => {
    const { key } = await create();
    const guest = callerOf(app, world.guest.token);
    for (const name of ['issueDelete', 'issueRestore', 'issueSubscribe', 'issueUnsubscribe'] as const) {
      expect(await guest.refused(name, { key })).toMatchObject({ code: 'FORBIDDEN' });
    }
  });
});

describe('issueRestore', () => {
  it('brings the issue back as it was, under its parent and over its sub-issues', async () => {
    const top = await create();
    const middle = await create({
      parentIssueId: top.id,
      projectId: world.apollo,
      deliveryId: world.eng.sprint1,
      estimateValue: 2,
    });
    const bottom = await create({ parentIssueId: middle.id });
    const gone = await create({ parentIssueId: middle.id });
    await ada.mutate('issueDelete', { key: gone.key });
    const before = await ada.read(middle.key);
    await ada.mutate('issueDelete', { key: middle.key });
    const { issue } = await ada.mutate('issueRestore', { key: middle.key });
    expect(issue).toEqual({ ...before, revision: expect.any(Number) });
    expect(issue.subIssueCount).toBe(1);
    expect(await ada.read(top.key)).toMatchObject({ subIssueCount: 1 });
    expect(await ada.read(bottom.key)).toMatchObject({ parentIssueId: middle.id });
    await ada.mutate('issueRestore', { key: gone.id });
    expect(await ada.read(middle.key)).toMatchObject({ subIssueCount: 2 });
  });

  it('leaves sub-issues alone that got another parent meanwhile, or were told to have none', async () => {
    const [old, other] = [await create(), await create()];
    const [moved, freed] = [await create({ parentIssueId: old.id }), await create({ parentIssueId: old.id })];
    await ada.mutate('issueDelete', { key: old.key });
    await ada.update(moved.key, { parentIssueId: other.id });
    await ada.update(freed.key, { parentIssueId: null });
    expect((await ada.mutate('issueRestore', { key: old.key })).issue).toMatchObject({ subIssueCount: 0 });
    expect(await ada.read(moved.key)).toMatchObject({ parentIssueId: other.id });
    expect(await ada.read(freed.key)).toMatchObject({ parentIssueId: null });
  });

  it('closes no circle when a former sub-issue has become an ancestor', async () => {
    const top = await create();
    const middle = await create({ parentIssueId: top.id });
    const bottom = await create({ parentIssueId: middle.id });
    await ada.mutate('issueDelete', { key: middle.key });
    await ada.update(top.key, { parentIssueId: bottom.id });
    expect((await ada.mutate('issueRestore', { key: middle.key })).issue).toMatchObject({
      parentIssueId: top.id,
      subIssueCount: 0,
    });
    expect(await ada.read(bottom.key)).toMatchObject({ parentIssueId: null, subIssueCount: 1 });
  });

  it('gives two deleted ones back to each other in either order', async () => {
    const top = await create();
    const bottom = await create({ parentIssueId: top.id });
    await ada.mutate('issueDelete', { key: top.key });
    await ada.mutate('issueDelete', { key: bottom.key });
    expect((await ada.mutate('issueRestore', { key: bottom.key })).issue).toMatchObject({
      parentIssueId: null,
    });
    expect((await ada.mutate('issueRestore', { key: top.key })).issue).toMatchObject({ subIssueCount: 1 });
    expect(await ada.read(bottom.key)).toMatchObject({ parentIssueId: top.id });
  });

  it('leaves an issue that is not deleted as it is', async () => {
    const { key } = await create();
    expect((await ada.mutate('issueRestore', { key })).issue).toMatchObject({ revision: 1 });
  });

  it('finds nothing after 30 days', async () => {
    const [late, early] = [await create(), await create()];
    const deleteBefore = async (key: string, days: number) => {
      const { deletedIssueId } = await ada.mutate('issueDelete', { key });
      const parsed = parseId(deletedIssueId);
      const deletedUtc = new Date(Date.now() - days * 86_400_000);
      await app.database.unscoped
        .updateTable('issue')
        .set({ deletedUtc })
        .where('workspaceId', '=', world.workspaceId)
        .where('id', '=', parsed?.uuid ?? '')
        .execute();
    };
    await deleteBefore(late.key, 30.001);
    await deleteBefore(early.key, 29.999);
    expect(await ada.refused('issueRestore', { key: late.key })).toMatchObject({ code: 'NOT_FOUND' });
    expect((await ada.mutate('issueRestore', { key: early.key })).issue).toMatchObject({ key: early.key });
  });
});
