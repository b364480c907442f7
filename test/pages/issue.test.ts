import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { describeInBrowser, overflowOf } from './browser.ts';
import { busy, usePages } from './use-pages.ts';
import { flawsOf, noFlaws, type Tab } from './walk.ts';

describeInBrowser('the page of an issue in a real browser (needs /usr/bin/chromium)', () => {
  const pages = usePages();
  const { signedIn, open, close, create } = pages;
  /** Attaches a file to an issue, and returns the id of the attachment. */
  const attachBytes = async (issueKey: string, fileName: string, contentType: string, bytes: Buffer) => {
    const { body } = await pages.app.graphql<{
      attachmentCreate: { uploadUrl: string; attachment: { id: string } };
    }>(
      'mutation ($input: AttachmentCreateInput!) { attachmentCreate(input: $input) { uploadUrl attachment { id } } }',
      { input: { issueKey, fileName, contentType, sizeBytes: bytes.length } },
    );
    const { uploadUrl = '', attachment } = body.data?.attachmentCreate ?? {};
    const headers = { 'Content-Type': contentType };
    await fetch(uploadUrl, { method: 'PUT', headers, body: new Uint8Array(bytes) });
    return attachment?.id ?? '';
  };
  /** Attaches a file of the demo to an issue. */
  const attach = async (issueKey: string, fileName: string, contentType: string) =>
    attachBytes(
      issueKey,
      fileName,
      contentType,
      await readFile(join(import.meta.dirname, '../../demo/files', fileName)),
    );
  const comment = (key: string, body: string) =>
    pages.app.graphql(
      'mutation ($key: String!, $body: String!) { commentCreate(input: { issueKey: $key, body: $body }) { comment { id } } }',
      { key, body },
    );
  const remove = (key: string) =>
    pages.app.graphql('mutation ($key: String!) { issueDelete(input: { key: $key }) { deletedIssueId } }', {
      key,
    });
  const idOf = async (key: string) => {
    const { body } = await pages.app.graphql<{ issue: { id: string } }>(
      'query ($key: String!) { issue(key: $key) { id } }',
      { key },
    );
    return body.data?.issue.id ?? '';
  };
  const shows = ({ page }: Tab, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();

  it('confines characters that change the direction of text to the name of a file', async () => {
    await attachBytes('WEB-2', '\u202Egnp.exe', 'text/plain', Buffer.from('text'));
    const tab = await signedIn();
    await tab.page.goto(`${pages.app.url}/issues/WEB-2`);
    await tab.page.locator('.attachments').getByText('\uFFFDgnp.exe').first().waitFor();
    const entry = tab.page.locator('.activity bdi').filter({ hasText: 'gnp.exe' });
    expect(await entry.count()).toBe(1);
    await tab.page.context().close();
  });

  it('shows all of a list item that contains a line separator', async () => {
    const key = await create('WEB', { title: 'Lines', description: '- one\u2028two\n* three\u2029four' });
    const tab = await signedIn();
    await open(tab, `/issues/${key}`, 'Lines');
    const items = tab.page.locator('.description li');
    expect(await items.allTextContents()).toEqual(['one\u2028two', 'three\u2029four']);
    await close(tab);
  });

  it('indents replies to replies only as far as a phone has room for their text', async () => {
    const key = await create('WEB', { title: 'A long discussion' });
    let parentCommentId: string | undefined;
    for (let level = 0; level < 12; level += 1) {
      const { body } = await pages.app.request<{ id: string }>('POST', `/v1/issues/${key}/comments`, {
        body: { body: `Level ${level}`, ...(parentCommentId && { parentCommentId }) },
      });
      parentCommentId = body.id;
    }
    const tab = await signedIn({ viewport: { width: 320, height: 700 } });
    await open(tab, `/issues/${key}`, 'A long discussion');
    await tab.page.getByText('Level 11').waitFor();
    const widths = await tab.page.evaluate<number[]>(
      "[...document.querySelectorAll('.comments-list .body')].map((body) => body.clientWidth)",
    );
    expect(widths).toHaveLength(12);
    expect(Math.min(...widths)).toBeGreaterThan(140);
    expect(await overflowOf(tab.page)).toBeLessThanOrEqual(0);
    await close(tab);
  });

  it('confines characters that change the direction of text to the title of a link, and shows no URL with them', async () => {
    const url = 'https://host.example/\u202Egro.elpmaxe';
    const key = await create('WEB', { title: 'Directions', description: `See ${url} first.` });
    await pages.app.request('POST', `/v1/issues/${key}/links`, {
      body: { url: 'https://host.example/x', title: 'Docs \u202Egoogle' },
    });
    const tab = await signedIn();
    await open(tab, `/issues/${key}`, 'Directions');
    const isolated = tab.page.locator('.main a bdi');
    expect(await isolated.allTextContents()).toEqual([
      'https://host.example/\uFFFDgro.elpmaxe',
      'Docs \u202Egoogle',
    ]);
    await close(tab);
  });

  it('shows pictures of its attachments, and texts when the user opens them', async () => {
    await attach('CRW-45', 'mock-up-1.png', 'image/png');
    await attach('CRW-45', 'analysis-1.py', 'text/x-python');
    const tab = await signedIn();
    await open(tab, '/issues/CRW-45', 'Certificate warnings arrive a day late');
    const picture = tab.page.getByRole('img', { name: 'Preview of mock-up-1.png' });
    await picture.scrollIntoViewIfNeeded();
    // `decode` rejects if the picture cannot be shown.
    await picture.evaluate((image: unknown) => (image as { decode(): Promise<void> }).decode());
    await tab.page.getByText('Preview of analysis-1.py').click();
    await tab.page.locator('pre[aria-label="analysis-1.py"]').filter({ hasText: 'import' }).waitFor();
    expect(await flawsOf(tab)).toEqual(noFlaws);
    await close(tab);
  });

  it('escapes texts of users, and shows a new comment at once', async () => {
    const tab = await signedIn();
    const description = [
      '<img src=x onerror="document.title = \'it ran\'">',
      '- one `point`',
      'See https://example.com/a?b=1, and javascript:alert(1)',
      '(see https://en.wikipedia.org/wiki/Foo_(bar)).',
    ].join('\n');
    const key = await create('SUP', { title: '<b>Bold</b>', description });
    await open(tab, `/issues/${key}`, '<b>Bold</b>');
    const section = tab.page.getByRole('region', { name: 'Description' });
    expect(await section.innerText()).toContain('<img src=x onerror=');
    expect(await section.locator('li code').innerText()).toBe('point');
    expect(await section.getByRole('link').allInnerTexts()).toEqual([
      'https://example.com/a?b=1',
      'https://en.wikipedia.org/wiki/Foo_(bar)',
    ]);
    await tab.page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
    await comment(key, 'Just said.');
    await tab.page.getByText('Just said.').waitFor();
    expect(await tab.page.title()).toBe(`${key} <b>Bold</b> – workgraph`);
    expect(await flawsOf(tab)).toEqual(noFlaws);
    await close(tab);
  });

  it('says that an issue does not exist, as other pages do of a project and of an address', async () => {
    const tab = await signedIn();
    await open(tab, '/issues/WEB-99999', 'There is no issue WEB-99999');
    await open(tab, '/projects/nope', 'There is no project NOPE');
    const complaints = tab.complaints.length;
    const response = await tab.page.goto(`${pages.app.url}/somewhere/else`);
    expect(response?.status()).toBe(404);
    await tab.page.getByRole('heading', { level: 1, name: 'There is nothing here' }).waitFor();
    // The browser itself complains about the status.
    expect(tab.complaints.splice(complaints)).toHaveLength(1);
    expect(await flawsOf(tab)).toEqual(noFlaws);
    await tab.page.getByRole('main').getByRole('link', { name: 'Dashboard' }).click();
    await tab.page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
    await close(tab);
  });

  it('retries a read that fails, and does not claim meanwhile to be live', async () => {
    const tab = await signedIn();
    const key = await create('SUP', { title: 'Before the failure' });
    await open(tab, `/issues/${key}`, 'Before the failure');
    await shows(tab, 'Live');
    const restore = await pages.intercept(tab, busy);
    await pages.update(key, { title: 'After the failure' });
    await shows(tab, 'Not up to date: Too much is going on.');
    await restore();
    await tab.page.getByRole('heading', { level: 1, name: 'After the failure' }).waitFor();
    await shows(tab, 'Live');
    await remove(key);
    await tab.page.getByRole('heading', { level: 1, name: `There is no issue ${key}` }).waitFor();
    expect(await tab.page.title()).toBe(`There is no issue ${key} – workgraph`);
    await close(tab);
  });

  it('follows its sub-issues and its parent', async () => {
    const key = await create('WEB', { title: 'The whole' });
    const parentIssueId = await idOf(key);
    const child = await create('WEB', { title: 'The first part', parentIssueId });
    const [tab, childTab] = [await signedIn(), await signedIn()];
    await open(tab, `/issues/${key}`, 'The whole');
    await open(childTab, `/issues/${child}`, 'The first part');
    for (const each of [tab, childTab]) await shows(each, 'Live');
    const section = tab.page.getByRole('region', { name: 'Sub-issues' });
    const second = await create('WEB', { title: 'The second part', parentIssueId });
    await section.getByText('0 of 2 done').waitFor();
    await pages.update(child, { status: 'Done', title: 'The first part, renamed' });
    await section.getByText('1 of 2 done').waitFor();
    await section.getByRole('link', { name: 'The first part, renamed' }).waitFor();
    await remove(second);
    await section.getByText('1 of 1 done').waitFor();
    await pages.update(key, { title: 'The whole, renamed' });
    await childTab.page.getByRole('link', { name: 'The whole, renamed' }).waitFor();
    expect([tab.complaints, childTab.complaints]).toEqual([[], []]);
    await close(tab, childTab);
  });

  it('shows the content of a file under its own name, from an address that is read when it is opened', async () => {
    const key = await create('SUP', { title: 'With files' });
    const first = await attachBytes(key, 'a.txt', 'text/plain', Buffer.from('The text of a.'));
    await attachBytes(key, 'b.txt', 'text/plain', Buffer.from('The text of b.'));
    await attach(key, 'mock-up-1.png', 'image/png');
    const tab = await signedIn();
    await open(tab, `/issues/${key}`, 'With files');
    await shows(tab, 'Live');
    // The addresses in the answer that the page has read expire.
    const links = await tab.page.locator('.file a').all();
    const expired = await Promise.all(links.map((link) => link.getAttribute('href')));
    await tab.page.route(
      (url) => expired.includes(url.href),
      (route) => route.fulfill({ status: 403 }),
    );
    const saved = tab.page.waitForEvent('download');
    await tab.page.getByRole('link', { name: 'b.txt' }).click();
    expect(await readFile(await (await saved).path(), 'utf8')).toBe('The text of b.');

    const opened = () => tab.page.locator('details.preview[open]');
    const restore = await pages.intercept(tab, busy);
    await tab.page.getByText('Preview of a.txt').click();
    await opened().getByText('could not be read: Too much is going on.').waitFor();
    await restore();
    for (const _ of ['closed', 'opened']) await tab.page.getByText('Preview of a.txt').click();
    await opened().getByText('The text of a.').waitFor();

    const picture = tab.page.getByRole('img', { name: 'Preview of mock-up-1.png' });
    const address = await picture.getAttribute('src');
    await pages.app.graphql(
      'mutation ($id: ID!) { attachmentDelete(input: { id: $id }) { deletedAttachmentId } }',
      { id: first },
    );
    await tab.page.locator('.file').getByText('a.txt').waitFor({ state: 'detached' });
    await tab.page.getByText('Preview of b.txt').waitFor();
    expect(await opened().count()).toBe(0);
    expect(await picture.getAttribute('src')).toBe(address);
    expect(await tab.page.locator('.file a').first().getAttribute('href')).not.toBe(expired[1]);
    await close(tab);
  });

  it('fits long words, and says how old a comment is while nothing happens', async () => {
    const word = 'x'.repeat(200);
    const key = await create('SUP', { title: word });
    await comment(key, word);
    await pages.app.graphql(
      'mutation ($input: IssueLinkCreateInput!) { issueLinkCreate(input: $input) { created } }',
      { input: { issueKey: key, title: word, url: `https://example.com/${word}` } },
    );
    for (const viewport of [
      { width: 1300, height: 850 },
      { width: 390, height: 844 },
    ]) {
      const tab = await signedIn({ viewport });
      await tab.page.clock.install();
      await open(tab, `/issues/${key}`, word);
      expect(await overflowOf(tab.page)).toBe(0);
      await tab.page.getByRole('region', { name: 'Comments' }).getByText('just now').waitFor();
      await tab.page.clock.fastForward(180_000);
      await tab.page.getByRole('region', { name: 'Comments' }).getByText('3 minutes ago').waitFor();
      await close(tab);
    }
  });
});
