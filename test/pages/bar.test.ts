import { expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeInBrowser } from './browser.ts';
import { usePages } from './use-pages.ts';

describeInBrowser('the bar of the pages in a real browser (needs /usr/bin/chromium)', () => {
  const pages = usePages();

  /** The different distances of the elements from the top of the page, in pixels. */
  const topsOf = (page: Page, selector: string) =>
    page.evaluate<number[]>(`[...new Set(
      [...document.querySelectorAll('${selector}')].map((each) => Math.round(each.getBoundingClientRect().top)))]`);

  it('shows its links in one line on a phone', async () => {
    const tab = await pages.signedIn({ viewport: { width: 375, height: 700 } });
    for (const path of ['/', '/dashboard', '/board', '/schema', '/v1/docs', '/graphql']) {
      await tab.page.goto(pages.app.url + path);
      const lines = (await topsOf(tab.page, '.bar nav a')).length;
      expect({ path, lines }).toEqual({ path, lines: 1 });
    }
    await pages.close(tab);
  });

  it('shows the button to sign out beside the name on a small screen, even in GraphiQL', async () => {
    const tab = await pages.signedIn({ viewport: { width: 768, height: 700 } });
    await tab.page.goto(`${pages.app.url}/graphql`);
    await tab.page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(await topsOf(tab.page, '.brand, .sign-out')).toHaveLength(1);
    await pages.close(tab);
  });

  it('stays above the buttons of the page that reports an unknown address, which do not touch each other', async () => {
    const tab = await pages.visitor();
    await tab.page.setViewportSize({ width: 375, height: 700 });
    await tab.page.goto(`${pages.app.url}/nowhere`);
    const gap = await tab.page.evaluate<number>(`(() => {
      const [first, , last] = [...document.querySelectorAll('.problem .button')].map((each) => each.getBoundingClientRect());
      return last.top - first.bottom;
    })()`);
    expect(gap).toBeGreaterThanOrEqual(8);
    await pages.close(tab);
  });
});
