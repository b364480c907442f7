import { describe, expect, it } from '@jest/globals';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { toRichText } from '../../src/resolvers/rich-text.ts';
import { callerOf } from '../support/mutations.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';

const { app, world, ada } = useIssueWorld();

const create = () => ada.create({ teamId: world.eng.id, title: 'An issue' });

describe('commentCreate', () => {
  it('stores the comment, updates the count and the feed, and subscribes the author', async () => {
    const { key, id, updatedUtc } = await create();
    const bob = callerOf(app, world.bob.token);
    const { comment, issue } = await bob.mutate('commentCreate', { issueKey: key, body: 'One\n\nTwo' });
    expect(comment).toEqual({
      id: expect.stringMatching(/^comment_/),
      issueId: id,
      parentCommentId: null,
      parentAuthorDisplayName: null,
      authorUserAccountId: world.bob.id,
      bodyText: 'One\n\nTwo',
      canManage: true,
      isEdited: false,
      createdUtc: issue.lastActivityUtc,
      updatedUtc: issue.lastActivityUtc,
      revision: 1,
    });
    expect(issue).toMatchObject({
      commentCount: 1,
      lastCommentUtc: comment.createdUtc,
      updatedUtc,
      revision: 1,
      isSubscribed: true,
    });
    expect(await ada.feed(key)).toMatchObject([
      {
        eventType: 'issue-comment.created.v1',
        text: 'Bob Member commented',
        sortOrder: 1,
        iconCss: 'icon-comment',
      },
    ]);
  });

  it.each([
    'one line',
    'one\ntwo',
    'one\r\ntwo\rthree\n\n',
    '\n\r\n\r',
    '\r\n',
    'quotes " and \\ and é\n\u{1f600}\ttab\n\u2028',
    'x'.repeat(2_000) + '\n'.repeat(3),
  ])('shows the body %j as rich text, a paragraph for each line', async (text) => {
    const { key } = await create();
    const { comment } = await ada.mutate('commentCreate', { issueKey: key, body: `a${text}` });
    const query = 'query ($id: ID!) { node(id: $id) { ... on Comment { body } } }';
    const { body } = await app.graphql<{ node: { body: unknown } }>(query, { id: comment.id });
    expect(body.data?.node.body).toEqual(toRichText(`a${text}`));
  });

  it('stores a reply to a comment of the same issue, with the name of its author even after a deletion', async () => {
    const { key } = await create();
    const bob = callerOf(app, world.bob.token);
    const { comment: parent } = await bob.mutate('commentCreate', { issueKey: key, body: 'Q' });
    const reply = { issueKey: key, parentCommentId: parent.id, body: 'A' };
    const { comment } = await ada.mutate('commentCreate', reply);
    expect(comment).toMatchObject({ parentCommentId: parent.id, parentAuthorDisplayName: 'Bob Member' });
    await bob.mutate('commentDelete', { id: parent.id });
    const { body } = await app.graphql(
      'query ($id: ID!) { node(id: $id) { ... on Comment { parentCommentId parentAuthorDisplayName parent { id } } } }',
      { id: comment.id },
    );
    expect(body.data?.node).toEqual({
      parentCommentId: parent.id,
      parentAuthorDisplayName: 'Bob Member',
      parent: null,
    });
    const notOfIssue = ['parentCommentId: does not belong to the issue'];
    expect(await ada.violationsOf('commentCreate', reply)).toEqual(notOfIssue);
    const elsewhere = { issueKey: (await create()).key, parentCommentId: comment.id, body: 'x' };
    expect(await ada.violationsOf('commentCreate', elsewhere)).toEqual(notOfIssue);
    expect((await ada.feed(key)).map(({ text }) => text)).toEqual([
      'Bob Member commented',
      'Ada Member replied to Bob Member',
      'Bob Member deleted a comment',
    ]);
  });

  it('accepts 1 to 50,000 characters, and reports all bad fields at once', async () => {
    const { key, id } = await create();
    await ada.mutate('commentCreate', { issueKey: key, body: '🐞'.repeat(50_000) });
    const tooLong = { issueKey: key, body: 'x'.repeat(50_001) };
    expect(await ada.violationsOf('commentCreate', tooLong)).toEqual([
      'body: must have at most 50000 characters',
    ]);
    expect(
      await ada.violationsOf('commentCreate', { issueKey: 'NOPE-1', body: '', parentCommentId: id }),
    ).toEqual(['body: must not be empty', 'parentCommentId: expected a comment id, got an issue id']);
    expect(await ada.refusalOf('commentCreate', { issueKey: 'NOPE-1', body: 'x' })).toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  it('permits guests', async () => {
    const { key } = await create();
    const guest = callerOf(app, world.guest.token);
    const { comment } = await guest.mutate('commentCreate', { issueKey: key, body: 'Hello' });
    await guest.mutate('commentUpdate', { id: comment.id, body: 'Hello again' });
    await guest.mutate('commentDelete', { id: comment.id });
    const { comment: other } = await ada.mutate('commentCreate', { issueKey: key, body: 'Mine' });
    expect(await guest.refusalOf('commentUpdate', { id: other.id, body: 'x' })).toMatchObject({
      code: 'FORBIDDEN',
    });
  });
});

describe('commentUpdate', () => {
  it('changes the body, marks the comment as edited, and adds an entry to the feed', async () => {
    const { key, updatedUtc } = await create();
    const { comment: before } = await ada.mutate('commentCreate', { issueKey: key, body: 'Old' });
    const { comment, issue } = await ada.mutate('commentUpdate', {
      id: before.id,
      issueKey: key.toLowerCase(),
      body: 'New',
    });
    expect(comment).toEqual({
      ...before,
      bodyText: 'New',
      isEdited: true,
      updatedUtc: issue.lastActivityUtc,
      revision: 2,
    });
    expect(issue).toMatchObject({ commentCount: 1, lastCommentUtc: before.createdUtc, updatedUtc });
    expect(await ada.feed(key)).toMatchObject([
      {},
      { eventType: 'issue-comment.updated.v1', text: 'Ada Member edited a comment', sortOrder: 2 },
    ]);
  });

  it('permits the author, owners and admins', async () => {
    const { key } = await create();
    const { comment } = await ada.mutate('commentCreate', { issueKey: key, body: 'Mine' });
    const refused = {
      code: 'FORBIDDEN',
      message: 'Only its author, owners and admins may change or delete a comment.',
    };
    const bob = callerOf(app, world.bob.token);
    expect(await bob.refusalOf('commentUpdate', { id: comment.id, body: 'x' })).toMatchObject(refused);
    expect(await bob.refusalOf('commentDelete', { id: comment.id })).toMatchObject(refused);
    for (const token of [world.admin.token, world.owner.token]) {
      await callerOf(app, token).mutate('commentUpdate', { id: comment.id, body: 'Moderated' });
    }
    await callerOf(app, world.admin.token).mutate('commentDelete', { id: comment.id });
  });

  it('answers NOT_FOUND for an unknown comment, or one of another issue', async () => {
    const { key } = await create();
    const { comment } = await ada.mutate('commentCreate', { issueKey: key, body: 'Mine' });
    const other = await create();
    for (const name of [
      { id: comment.id, issueKey: other.key },
      { id: comment.id, issueKey: 'NOPE-1' },
      { id: encodeId('comment', newUuid()) },
      { id: 'nonsense' },
    ]) {
      expect(await ada.refusalOf('commentUpdate', { ...name, body: 'x' })).toMatchObject({
        code: 'NOT_FOUND',
        errors: [],
      });
      expect(await ada.refusalOf('commentDelete', name)).toMatchObject({ code: 'NOT_FOUND' });
    }
    expect(await ada.refusalOf('commentDelete', { id: other.id })).toMatchObject({
      code: 'NOT_FOUND',
      message: 'There is no such comment: expected a comment id, got an issue id.',
    });
    expect(await ada.violationsOf('commentUpdate', { id: comment.id, body: '' })).toEqual([
      'body: must not be empty',
    ]);
  });
});

describe('commentDelete', () => {
  it('lowers the count, and sets the issue’s last comment time to that of the newest remaining comment', async () => {
    const { key } = await create();
    const { comment: first } = await ada.mutate('commentCreate', { issueKey: key, body: '1' });
    const { comment: second } = await ada.mutate('commentCreate', { issueKey: key, body: '2' });
    const one = await ada.mutate('commentDelete', { id: second.id });
    expect(one).toMatchObject({
      deletedCommentId: second.id,
      issue: { commentCount: 1, lastCommentUtc: first.createdUtc },
    });
    const none = await ada.mutate('commentDelete', { id: first.id, issueKey: key });
    expect(none.issue).toMatchObject({ commentCount: 0, lastCommentUtc: null });
    expect(await ada.refusalOf('commentDelete', { id: first.id })).toMatchObject({
      code: 'NOT_FOUND',
      message: 'There is no such comment.',
    });
    expect(await ada.feed(key)).toHaveLength(4);
  });
});

describe('issueLinkCreate', () => {
  it('stores the link, and updates the count and the feed', async () => {
    const { key, updatedUtc } = await create();
    const { issueLink, created, issue } = await ada.mutate('issueLinkCreate', {
      issueKey: key,
      url: ' https://Example.com/A ',
      title: ' The A ',
    });
    expect(created).toBe(true);
    expect(issueLink).toEqual({
      id: expect.stringMatching(/^link_/),
      url: 'https://Example.com/A',
      title: 'The A',
      createdUtc: issue.lastActivityUtc,
      createdByUserAccountId: world.ada.id,
    });
    expect(issue).toMatchObject({ linkCount: 1, updatedUtc, revision: 1 });
    expect(await ada.feed(key)).toMatchObject([
      {
        eventType: 'issue-link.created.v1',
        text: 'Ada Member added the link “The A”',
        sortOrder: 1,
        iconCss: 'icon-link',
      },
    ]);
  });

  it.each([
    ['https://example.com', 'HTTPS://EXAMPLE.COM/'],
    ['http://example.com:80/a?b=C', 'http://Example.com/a?b=C'],
    ['https://example.com:443?q', 'https://example.com/?q'],
    ['https://example.com#top', 'https://example.com/#top'],
    ['https://user:Pw@example.com/', 'https://user:Pw@EXAMPLE.com'],
  ])('treats %s and %s as the same URL', async (first, second) => {
    const { key } = await create();
    const one = await ada.mutate('issueLinkCreate', { issueKey: key, url: first, title: 'One' });
    const two = await ada.mutate('issueLinkCreate', { issueKey: key, url: second, title: 'Two' });
    expect(two).toMatchObject({
      created: false,
      issueLink: one.issueLink,
      issue: { linkCount: 1, revision: 1 },
    });
    expect(await ada.feed(key)).toHaveLength(1);
  });

  it.each([
    ['https://example.com/a', 'https://example.com/A'],
    ['https://example.com/a', 'https://example.com/a/'],
    ['https://example.com/a', 'http://example.com/a'],
    ['https://example.com/a', 'https://example.com/a#'],
    ['https://example.com/%61', 'https://example.com/a'],
    ['https://example.com/b/../a', 'https://example.com/a'],
    ['https://example.com:8443/', 'https://example.com/'],
    ['https://Me@example.com/', 'https://me@example.com/'],
  ])('treats %s and %s as different URLs', async (first, second) => {
    const { key } = await create();
    await ada.mutate('issueLinkCreate', { issueKey: key, url: first, title: 'One' });
    expect(await ada.mutate('issueLinkCreate', { issueKey: key, url: second, title: 'Two' })).toMatchObject({
      created: true,
    });
  });

  it('stores the same URL for another issue, and again after a deletion', async () => {
    const [one, two] = [await create(), await create()];
    const link = { url: 'https://example.com', title: 'x' };
    const { issueLink } = await ada.mutate('issueLinkCreate', { issueKey: one.key, ...link });
    expect(await ada.mutate('issueLinkCreate', { issueKey: two.key, ...link })).toMatchObject({
      created: true,
    });
    await ada.mutate('issueLinkDelete', { id: issueLink.id });
    const again = await ada.mutate('issueLinkCreate', { issueKey: one.key, ...link });
    expect(again.created).toBe(true);
    expect(again.issueLink.id).not.toBe(issueLink.id);
  });

  it.each([
    ['', 'url: must not be empty'],
    ['example.com', 'url: must be an http or https URL, such as https://example.com/page'],
    ['ftp://example.com', 'url: must be an http or https URL, such as https://example.com/page'],
    ['javascript:alert(1)', 'url: must be an http or https URL, such as https://example.com/page'],
    ['https://', 'url: must be an http or https URL, such as https://example.com/page'],
    ['https:///path', 'url: must be an http or https URL, such as https://example.com/page'],
    ['https://exa mple.com', 'url: must be an http or https URL, such as https://example.com/page'],
    ['https://example.com/a b', 'url: must be an http or https URL, such as https://example.com/page'],
    [
      'https://example.com\\@evil.test',
      'url: must be an http or https URL, such as https://example.com/page',
    ],
    ['https://[::1', 'url: must be an http or https URL, such as https://example.com/page'],
    ['https://example.com:99999/', 'url: must be an http or https URL, such as https://example.com/page'],
    [`https://example.com/${'x'.repeat(2029)}`, 'url: must have at most 2048 characters'],
  ])('refuses %j', async (url, violation) => {
    const { key } = await create();
    expect(await ada.violationsOf('issueLinkCreate', { issueKey: key, url, title: ' ' })).toEqual([
      'title: must not be white space alone',
      violation,
    ]);
  });

  it('refuses guests, and issues that do not exist', async () => {
    const { key } = await create();
    const link = { url: 'https://example.com', title: 'x' };
    const guest = callerOf(app, world.guest.token);
    expect(await guest.refusalOf('issueLinkCreate', { issueKey: key, ...link })).toMatchObject({
      code: 'FORBIDDEN',
    });
    expect(await guest.refusalOf('issueLinkDelete', { id: 'x' })).toMatchObject({ code: 'FORBIDDEN' });
    expect(await ada.refusalOf('issueLinkCreate', { issueKey: 'NOPE-1', ...link })).toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

describe('issueLinkDelete', () => {
  it('deletes the link, and answers NOT_FOUND the second time', async () => {
    const { key } = await create();
    const { issueLink } = await ada.mutate('issueLinkCreate', {
      issueKey: key,
      url: 'https://a.test',
      title: 'A',
    });
    expect(
      await ada.refusalOf('issueLinkDelete', { id: issueLink.id, issueKey: (await create()).key }),
    ).toMatchObject({ code: 'NOT_FOUND' });
    const { issue, deletedIssueLinkId } = await ada.mutate('issueLinkDelete', {
      id: issueLink.id,
      issueKey: key,
    });
    expect(deletedIssueLinkId).toBe(issueLink.id);
    expect(issue).toMatchObject({ linkCount: 0, revision: 1 });
    expect(await ada.refusalOf('issueLinkDelete', { id: issueLink.id })).toMatchObject({
      code: 'NOT_FOUND',
      message: 'There is no such link.',
    });
    expect(await ada.refusalOf('issueLinkDelete', { id: encodeId('link', newUuid()) })).toMatchObject({
      code: 'NOT_FOUND',
    });
    expect(await ada.feed(key)).toMatchObject([
      {},
      { eventType: 'issue-link.deleted.v1', text: 'Ada Member removed the link “A”' },
    ]);
  });
});
