import { describe, expect, it } from '@jest/globals';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { callerOf } from '../support/mutations.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';

const { app, world, ada } = useIssueWorld();

const create = () => ada.create({ teamId: world.eng.id, title: 'An issue' });

describe('issueLinkCreate', () => {
  it('adds a link, counts it and enters it in the feed', async () => {
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
  ])('knows %s and %s for one place', async (first, second) => {
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
  ])('knows %s and %s for two', async (first, second) => {
    const { key } = await create();
    await ada.mutate('issueLinkCreate', { issueKey: key, url: first, title: 'One' });
    expect(await ada.mutate('issueLinkCreate', { issueKey: key, url: second, title: 'Two' })).toMatchObject({
      created: true,
    });
  });

  it('adds to another issue, or again after a deletion, what is no double there', async () => {
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
    ['example.com', 'url: must be an http or https URL'],
    ['ftp://example.com', 'url: must be an http or https URL'],
    ['javascript:alert(1)', 'url: must be an http or https URL'],
    ['https://', 'url: must be an http or https URL'],
    ['https:///path', 'url: must be an http or https URL'],
    ['https://exa mple.com', 'url: must be an http or https URL'],
    ['https://example.com/a b', 'url: must be an http or https URL'],
    ['https://example.com\\@evil.test', 'url: must be an http or https URL'],
    ['https://[::1', 'url: must be an http or https URL'],
    ['https://example.com:99999/', 'url: must be an http or https URL'],
    [`https://example.com/${'x'.repeat(2029)}`, 'url: must have at most 2048 characters'],
  ])('refuses %j', async (url, violation) => {
    const { key } = await create();
    expect(await ada.violations('issueLinkCreate', { issueKey: key, url, title: ' ' })).toEqual([
      'title: must not be empty',
      violation,
    ]);
  });

  it('is for members, not for guests, and for issues that there are', async () => {
    const { key } = await create();
    const link = { url: 'https://example.com', title: 'x' };
    const guest = callerOf(app, world.guest.token);
    expect(await guest.refused('issueLinkCreate', { issueKey: key, ...link })).toMatchObject({
      code: 'FORBIDDEN',
    });
    expect(await guest.refused('issueLinkDelete', { id: 'x' })).toMatchObject({ code: 'FORBIDDEN' });
    expect(await ada.refused('issueLinkCreate', { issueKey: 'NOPE-1', ...link })).toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

describe('issueLinkDelete', () => {
  it('takes the link away, once', async () => {
    const { key } = await create();
    const { issueLink } = await ada.mutate('issueLinkCreate', {
      issueKey: key,
      url: 'https://a.test',
      title: 'A',
    });
    expect(
      await ada.refused('issueLinkDelete', { id: issueLink.id, issueKey: (await create()).key }),
    ).toMatchObject({ code: 'NOT_FOUND' });
    const { issue, deletedIssueLinkId } = await ada.mutate('issueLinkDelete', {
      id: issueLink.id,
      issueKey: key,
    });
    expect(deletedIssueLinkId).toBe(issueLink.id);
    expect(issue).toMatchObject({ linkCount: 0, revision: 1 });
    expect(await ada.refused('issueLinkDelete', { id: issueLink.id })).toMatchObject({
      code: 'NOT_FOUND',
      message: 'There is no such link.',
    });
    expect(await ada.refused('issueLinkDelete', { id: encodeId('link', newUuid()) })).toMatchObject({
      code: 'NOT_FOUND',
    });
    expect(await ada.feed(key)).toMatchObject([
      {},
      { eventType: 'issue-link.deleted.v1', text: 'Ada Member removed the link “A”' },
    ]);
  });
});
