import { expect, it } from '@jest/globals';
import type { Page, Request, Route } from 'playwright-core';
import { describeInBrowser } from './browser.ts';
import { busy, usePages } from './use-pages.ts';

describeInBrowser('pages whose queries are refused in a real browser (needs /usr/bin/chromium)', () => {
  const pages = usePages();
  const { signedIn, open, close } = pages;
  const board = 'Booking Web';
  const isLive = (page: Page) => page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
  const button = (page: Page, name: string) => page.getByRole('button', { name });

  /** Clears the filter of a page that the server answers again. */
  const clearFilter = async (page: Page) => {
    await button(page, 'Clear the filter').click();
    await isLive(page);
    expect(new URL(page.url()).search).toBe('');
  };

  /** A tab whose clock can be moved forward, with all requests that it has sent to the graph. */
  const openWatched = async () => {
    const tab = await signedIn();
    await tab.page.clock.install();
    const sent: Request[] = [];
    tab.page.on('request', (request) => request.url().endsWith('/graphql') && sent.push(request));
    return { tab, page: tab.page, sent };
  };

  /** Waits until all requests that the page has sent are recorded: the answer to a later request proves it. */
  const seeRequests = (page: Page) => page.evaluate("fetch('/readyz').then((response) => response.text())");
  const passTenMinutes = async (page: Page) => {
    await page.clock.runFor(600_000);
    await seeRequests(page);
  };
  const refuse = (code: string, message: string) => (route: Route) =>
    route.fulfill({ json: { errors: [{ message, extensions: { code, requestId: 'r-1' } }] } });

  /** Serves document ids to the page of which those of certain names are from another version. */
  const serveOutdatedIds = async (page: Page, names: RegExp) => {
    await page.route('**/document-ids.js', async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      await route.fulfill({
        response,
        headers: { ...response.headers(), etag: '"of another version"' },
        body: text.replace(names, (_, name: string) => `"${name}":"${'0'.repeat(64)}"`),
      });
    });
    return () => page.unroute('**/document-ids.js');
  };

  it('a query that is too complex is sent once, and the page offers to clear the filter', async () => {
    const { tab, page, sent } = await openWatched();
    const message = 'The statistics would read too many issues.';
    const restore = await pages.intercept(tab, refuse('QUERY_TOO_COMPLEX', message));
    await page.goto(`${pages.app.url}/board/WEB?q=checkout`);
    await page.getByText(message).waitFor();
    await passTenMinutes(page);
    expect(sent).toHaveLength(1);
    await restore();
    await clearFilter(page);
    await close(tab);
  });

  it('a page whose query the server does not know advises to reload it, and sends it once', async () => {
    const { tab, page, sent } = await openWatched();
    const restore = await serveOutdatedIds(page, /"(Board)":"\w+"/);
    await open(tab, '/board/WEB?q=checkout', 'This page is out of date');
    await passTenMinutes(page);
    expect(sent).toHaveLength(1);
    expect(await button(page, 'Clear the filter').count()).toBe(0);
    await restore();
    await button(page, 'Reload the page').click();
    await isLive(page);
    await close(tab);
  });

  it('a page without a filter advises to reload it when its query is invalid, and sends it once', async () => {
    const { tab, page, sent } = await openWatched();
    await pages.intercept(tab, refuse('GRAPHQL_VALIDATION_FAILED', 'There is no such field.'));
    await open(tab, '/issues/WEB-1', 'This page is out of date');
    await button(page, 'Reload the page').waitFor();
    await passTenMinutes(page);
    expect(sent).toHaveLength(1);
    await close(tab);
  });

  it('a page whose subscription the server does not know says that it is not live, and sends it once', async () => {
    const { tab, page, sent } = await openWatched();
    await serveOutdatedIds(page, /"(BoardChanges)":"\w+"/);
    await open(tab, '/board/WEB', board);
    await page.getByRole('status').filter({ hasText: 'Not live' }).waitFor();
    await passTenMinutes(page);
    expect(sent.filter((request) => request.headers()['accept'] === 'text/event-stream')).toHaveLength(1);
    await close(tab);
  });

  it('a page offers to clear a filter that makes the server too busy', async () => {
    const { tab, page } = await openWatched();
    // The page reads again by itself, and must get no answer while the filter is there.
    await pages.intercept(tab, (route) =>
      route.request().postData()?.includes('checkout') ? busy(route) : route.continue(),
    );
    await open(tab, '/board/WEB?q=checkout', 'The server is busy');
    await button(page, 'Try again').waitFor();
    await clearFilter(page);
    await close(tab);
  });

  it('a hidden tab does not retry a read that failed, and reads again when it is shown', async () => {
    const { tab, page, sent } = await openWatched();
    const restore = await pages.intercept(tab, busy);
    await open(tab, '/board/WEB', 'The server is busy');
    // Playwright makes every page believe that it is in front.
    const setHidden = (hidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} });
        document.dispatchEvent(new Event('visibilitychange'))`);
    await setHidden(true);
    await seeRequests(page);
    const before = sent.length;
    await passTenMinutes(page);
    expect(sent).toHaveLength(before);
    await restore();
    await setHidden(false);
    await isLive(page);
    await close(tab);
  });
});
