import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type App, startApp } from '../support/app.ts';
import { hasBrowser, openBrowser } from './browser.ts';

// Without a browser the tests are named as skipped: `npm test` needs nothing installed.
const described = hasBrowser ? describe : describe.skip;

described('GraphiQL in a real browser (needs /usr/bin/chromium)', () => {
  let app: App;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const foreign: string[] = [];

  beforeAll(async () => {
    app = await startApp({ demo: true });
    browser = await openBrowser();
    page = await browser.newPage({ viewport: { width: 1300, height: 850 } });
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      const own = [app.url, `blob:${app.url}`, 'data:'].some((origin) => request.url().startsWith(origin));
      if (!own) foreign.push(request.url());
    });
    await page.goto(`${app.url}/graphql`);
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });

  it('answers the dashboard query that it opens with, once the token is pasted', async () => {
    const headers = page.locator('.graphiql-editor-tool .monaco-editor').last();
    await headers.waitFor({ timeout: 60_000 });
    await headers.click();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(JSON.stringify({ Authorization: `Bearer ${app.token}` }));
    // What the editor closed by itself stands behind the cursor.
    await page.keyboard.press('Control+Shift+End');
    await page.keyboard.press('Delete');
    const answered = page.waitForResponse(
      (response) => response.request().postData()?.includes('query Dashboard') ?? false,
    );
    await page.locator('.graphiql-execute-button').click();
    const response = await answered;
    expect(response.status()).toBe(200);
    await page.locator('.result-window').getByText('viewer').first().waitFor();
  }, 120_000);

  it('asked no other host for anything and wrote no error', () => {
    expect(foreign).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
