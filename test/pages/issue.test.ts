import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { hasBrowser } from './browser.ts';
import { usePages } from './use-pages.ts';
import { flawsOf, noFlaws } from './walk.ts';

// Without a browser the tests are reported as skipped, because `npm test` must not need one.
const described = hasBrowser ? describe : describe.skip;

described('the page of an issue in a real browser (needs /usr/bin/chromium)', () => {
  const pages = usePages();
  const { signedIn, open, close, create } = pages;
  /** Attaches a file of the demo to an issue. */
  const attach = async (issueKey: string, fileName: string, contentType: string) => {
    const bytes = await readFile(join(import.meta.dirname, '../../demo/files', fileName));
    const { body } = await pages.app.graphql<{ attachmentCreate: { uploadUrl: string } }>(
      'mutation ($input: AttachmentCreateInput!) { attachmentCreate(input: $input) { uploadUrl } }',
      { input: { issueKey, fileName, contentType, sizeBytes: bytes.length } },
    );
    const { uploadUrl = '' } = body.data?.attachmentCreate ?? {};
    await fetch(uploadUrl, { method: 'PUT', headers: { 'Content-Type': contentType }, body: bytes });
  };

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
  }, 120_000);

  it('escapes texts of users, and shows a new comment at once', async () => {
    const tab = await signedIn();
    const description = [
      '<img src=x onerror="document.title = \'it ran\'">',
      '- one `point`',
      'See https://example.com/a?b=1, and javascript:alert(1)',
    ].join('\n');
    const key = await create('SUP', { title: '<b>Bold</b>', description });
    await open(tab, `/issues/${key}`, '<b>Bold</b>');
    const section = tab.page.getByRole('region', { name: 'Description' });
    expect(await section.innerText()).toContain('<img src=x onerror=');
    expect(await section.locator('li code').innerText()).toBe('point');
    expect(await section.getByRole('link').allInnerTexts()).toEqual(['https://example.com/a?b=1']);
    await tab.page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
    await pages.app.graphql(
      'mutation ($key: String!) { commentCreate(input: { issueKey: $key, body: "Just said." }) { comment { id } } }',
      { key },
    );
    await tab.page.getByText('Just said.').waitFor();
    expect(await tab.page.title()).toBe(`${key} <b>Bold</b> – workgraph`);
    expect(await flawsOf(tab)).toEqual(noFlaws);
    await close(tab);
  }, 120_000);

  it('that does not exist has a page that says so, as have a missing project and an unknown address', async () => {
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
  }, 120_000);
});
