import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Frame } from 'playwright-core';
import { type AttachmentCaller, newAttachmentCaller } from '../attachments/files.ts';
import type { App } from '../support/app.ts';
import { describeInBrowser, openBrowser, openPage } from './browser.ts';
import { demoPdf } from '../support/demo-files.ts';

describeInBrowser('a preview in a real browser (needs /usr/bin/chromium)', () => {
  let app: App;
  let browser: Browser;
  let caller: AttachmentCaller;

  beforeAll(async () => {
    const { startApp } = await import('../support/app.ts');
    app = await startApp({ sharesDatabase: true });
    caller = await newAttachmentCaller(app);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });

  it('shows a PDF in the viewer of the browser in spite of its strict policy', async () => {
    const bytes = demoPdf();
    const { signedPreviewUrl } = await caller.attach('report.pdf', 'application/pdf', bytes);
    const { page } = await openPage(browser, app.url);
    await page.goto(signedPreviewUrl ?? '');
    const isViewer = (frame: Frame) => frame.url().startsWith('chrome-extension:');
    const viewer = page.frames().find(isViewer) ?? (await page.waitForEvent('framenavigated', isViewer));
    // The viewer shows the number of pages once it has read the file.
    await viewer.locator('#pagelength').filter({ hasText: '1' }).waitFor();
    await page.context().close();
  });

  it('shows the text of HTML and runs no script', async () => {
    const html =
      '<script>document.title = "it ran"</script><img src=x onerror="document.title = \'it ran\'">';
    const { signedPreviewUrl } = await caller.attach('page.html', 'text/html', Buffer.from(html));
    const { page } = await openPage(browser, app.url);
    await page.goto(signedPreviewUrl ?? '');
    expect(await page.locator('body').innerText()).toBe(html);
    expect(await page.title()).toBe('');
    await page.context().close();
  });
});
