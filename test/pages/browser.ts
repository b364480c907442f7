import { existsSync } from 'node:fs';
import { describe, it } from '@jest/globals';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const executablePath = '/usr/bin/chromium';

/** Whether Debian's Chromium is installed and wanted. `.ci/run` installs it, but a developer's machine need not have it. */
const hasBrowser = existsSync(executablePath) && process.env['BROWSER'] !== 'none';

/** `describe` for tests that need a browser. Without one they are reported as skipped. */
export const describeInBrowser = hasBrowser ? describe : describe.skip;

/** `it` for tests that need a browser. */
export const itInBrowser = hasBrowser ? it : it.skip;

/** Opens a browser. With `keepsPages`, Back shows a page again as it was left, as in the browsers that people use. */
export function openBrowser({ keepsPages = false } = {}): Promise<Browser> {
  return chromium.launch({
    executablePath,
    ignoreDefaultArgs: keepsPages ? ['--disable-back-forward-cache'] : [],
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** A tab with its errors, and its requests to hosts other than the server. Both lists should stay empty. */
export interface WatchedPage {
  page: Page;
  complaints: string[];
  foreign: string[];
}

/** Opens a tab in a new browser profile. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1300, height: 850 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  const foreign: string[] = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    const own = [url, `blob:${url}`, 'data:'].some((origin) => request.url().startsWith(origin));
    if (!own) foreign.push(request.url());
  });
  return { page, complaints, foreign };
}

/** By how many pixels the page is wider than its window: more than 0 if a user has to scroll sideways. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
}
