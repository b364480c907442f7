import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { openPage, overflowOf, type WatchedPage } from './browser.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The windows in which pages are checked: two sizes, in both colour schemes. */
export const looks = (['light', 'dark'] as const).flatMap((colorScheme) => [
  { name: `1440 px, ${colorScheme}`, options: { colorScheme, viewport: { width: 1440, height: 900 } } },
  {
    name: `390 px, ${colorScheme}`,
    options: { colorScheme, viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  },
]);

/** A tab that is signed in to a server, and counts the bytes that it receives. */
export interface Tab extends WatchedPage {
  /** The bytes of all answers that have ended, with their headers. */
  bytes(): number;
}

export async function openTab(
  browser: Browser,
  url: string,
  { token, ...options }: BrowserContextOptions & { token?: string } = {},
): Promise<Tab> {
  const watched = await openPage(browser, url, options);
  const { page } = watched;
  page.setDefaultTimeout(60_000);
  if (token) await page.addInitScript(`sessionStorage.setItem('workgraph.token', '${token}')`);
  let bytes = 0;
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  network.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  return { ...watched, bytes: () => bytes };
}

/** The findings of axe on a page, each with its first element. */
export async function findingsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate<string[]>(
    `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ' at ' + nodes[0].target.join(' ')))`,
  );
}

/** The flaws of a page, which must all be empty or zero. */
export async function flawsOf({ page, complaints, foreign }: WatchedPage): Promise<object> {
  return { findings: await findingsOf(page), overflow: await overflowOf(page), complaints, foreign };
}

export const noFlaws = { findings: [], overflow: 0, complaints: [], foreign: [] };

/** Hides a tab, or shows it again, as the browser does when another tab is chosen. */
export async function setHidden(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
}
