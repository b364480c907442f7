import { expect, it } from '@jest/globals';
import { describeInBrowser } from './browser.ts';
import { busy, usePages } from './use-pages.ts';

describeInBrowser('the list of boards in a real browser (needs /usr/bin/chromium)', () => {
  const pages = usePages();

  it('is read again until the server answers, and counts issues that others create', async () => {
    const tab = await pages.signedIn();
    const { page } = tab;
    const restore = await pages.intercept(tab, busy);
    await pages.open(tab, '/board', 'The server is busy');
    await restore();
    await page.getByRole('status').filter({ hasText: 'Issues live' }).waitFor();
    const open = page.getByRole('listitem').filter({ hasText: 'Payments' }).locator('dd').first();
    const before = Number(await open.innerText());
    await pages.create('PAY', { title: 'Counted in the list of boards' });
    await open.filter({ hasText: new RegExp(`^${before + 1}$`) }).waitFor();
    expect(before).toBeGreaterThan(0);
    await pages.close(tab);
  });
});
