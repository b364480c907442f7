import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encodeId } from '../../src/resolvers/ids.ts';
import { describeReads } from '../graph/read-suite.ts';
import { dataOf } from '../graph/graph-answer.ts';
import { sharedWorld, type SharedWorld } from '../graph/shared-world.ts';

let world: SharedWorld;
beforeAll(async () => {
  world = await sharedWorld();
});
afterAll(() => world.stop());

describeReads('Comment', () => world);
describeReads('IssueLink', () => world);
// Signed URLs differ each time; the tests of attachments read them.
describeReads('Attachment', () => world, { leave: ['signedDownloadUrl', 'signedPreviewUrl'] });
describeReads('ActivityEntry', () => world);
describeReads('AgentThread', () => world);
describeReads('AgentThreadMessage', () => world);

describe('a comment', () => {
  it('remains when the comment it replies to is deleted, and still names the author of that comment', async () => {
    const deleted = world.fixture.rows.comment.find(({ deletedUtc }) => deletedUtc);
    const reply = world.fixture.rows.comment.find(({ parentCommentId }) => parentCommentId === deleted?.id);
    const author = world.fixture.rows.member.find(
      ({ userAccountId }) => userAccountId === deleted?.authorUserAccountId,
    );
    const query =
      'query ($id: ID!) { node(id: $id) { ... on Comment { parentCommentId parent { id } parentAuthorDisplayName } } }';
    const answer = await world.ask(query, { id: encodeId('comment', reply?.id ?? '') });
    expect(dataOf(answer).node).toEqual({
      parentCommentId: encodeId('comment', deleted?.id ?? ''),
      parent: null,
      parentAuthorDisplayName: author?.displayName,
    });
  });

  it('can be managed by its author, owners and admins', async () => {
    const { comment, member } = world.fixture.rows;
    // An admin, a member and a guest.
    for (const index of [1, 2, 7]) {
      const token = await world.token(['issues:read'], index);
      const own = new Set(
        comment
          .filter(({ authorUserAccountId }) => authorUserAccountId === member[index]?.userAccountId)
          .map(({ id }) => encodeId('comment', id)),
      );
      const ids = world.model.all('Comment').map(({ id }) => id);
      const data = dataOf(
        await world.ask(
          'query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Comment { canManage } } }',
          { ids },
          token,
        ),
      );
      expect(data.nodes).toEqual(ids.map((id) => ({ id, canManage: index === 1 || own.has(String(id)) })));
    }
  });
});

describe('an agent thread', () => {
  it('is stale half an hour after the last message, whatever status is stored', async () => {
    const { issue } = world.fixture.rows;
    const ids = issue.slice(0, 3).map(({ id }) => encodeId('issue', id));
    const data = dataOf(
      await world.ask(
        'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Issue { agentThread { status } } } }',
        {
          ids,
        },
      ),
    );
    expect(data.nodes).toEqual(
      ['COMPLETED', 'STALE', 'ACTIVE'].map((status) => ({ agentThread: { status } })),
    );
  });

  it('is null before the first message', async () => {
    const id = encodeId('issue', world.fixture.rows.issue[5]?.id ?? '');
    const data = dataOf(
      await world.ask('query ($id: ID!) { node(id: $id) { ... on Issue { agentThread { id } } } }', { id }),
    );
    expect(data.node).toEqual({ agentThread: null });
  });
});
