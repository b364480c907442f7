import { expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeInBrowser } from './browser.ts';
import { usePages } from './use-pages.ts';

describeInBrowser('filters of the pages in a real browser (needs /usr/bin/chromium)', () => {
  const pages = usePages();
  const { signedIn, open, close } = pages;
  const checkout = (page: Page) => page.getByRole('link', { name: 'Checkout on one page' });
  const searchOf = (page: Page) => new URL(page.url()).search;
  const back = (page: Page) => page.evaluate('history.back()');
  const forward = (page: Page) => page.evaluate('history.forward()');

  it('are undone by Back on a board, and restored by Forward and by reloading, except for typed text', async () => {
    const tab = await signedIn();
    const { page } = tab;
    await open(tab, '/board/WEB', 'Booking Web');
    await page.getByLabel('Priority').selectOption('LOW');
    await checkout(page).waitFor({ state: 'detached' });
    await page.getByLabel('Title').fill('zzzz');
    await page.getByText('No issue matches this filter.').waitFor();
    await page.getByRole('checkbox', { name: 'Canceled' }).check();
    await page.getByRole('button', { name: 'Clear' }).click();
    await checkout(page).waitFor();
    const chosen = async () => [
      searchOf(page),
      await page.getByLabel('Priority').inputValue(),
      await page.getByLabel('Title').inputValue(),
      await page.getByRole('checkbox', { name: 'Canceled' }).isChecked(),
    ];
    await back(page);
    await page.getByText('No issue matches this filter.').waitFor();
    expect(await chosen()).toEqual(['?priority=LOW&q=zzzz&canceled=1', 'LOW', 'zzzz', true]);
    await back(page);
    await page.locator('input[type=checkbox]:not(:checked)').waitFor();
    expect(await chosen()).toEqual(['?priority=LOW&q=zzzz', 'LOW', 'zzzz', false]);
    // The typed text replaced the address that only had the priority.
    await back(page);
    await checkout(page).waitFor();
    expect(await chosen()).toEqual(['', '', '', false]);
    await forward(page);
    await page.getByText('No issue matches this filter.').waitFor();
    await page.reload();
    await page.getByText('No issue matches this filter.').waitFor();
    expect(await chosen()).toEqual(['?priority=LOW&q=zzzz', 'LOW', 'zzzz', false]);
    expect(tab.complaints).toEqual([]);
    await close(tab);
  });

  it('are undone by Back on the dashboard, which is not read again when the user skips to its content', async () => {
    const tab = await signedIn();
    const { page } = tab;
    const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
    await open(tab, '/dashboard', 'Dashboard');
    await page.getByLabel('Team').selectOption('PAY');
    await heading('Payments');
    await page.getByRole('radio', { name: '1 year' }).check();
    await page.getByText('each month').first().waitFor();
    await back(page);
    await page.getByText('each week').first().waitFor();
    expect(await page.getByRole('radio', { name: '90 days' }).isChecked()).toBe(true);
    await back(page);
    await heading('Dashboard');
    expect([searchOf(page), await page.getByLabel('Team').inputValue()]).toEqual(['', '']);
    await page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
    const requestedUrls: string[] = [];
    page.on('request', (request) => requestedUrls.push(request.url()));
    await page.getByRole('link', { name: 'Skip to the content' }).press('Enter');
    await page.waitForURL('**/dashboard#main');
    await back(page);
    await page.waitForURL('**/dashboard');
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
    expect(requestedUrls.filter((url) => url.endsWith('/graphql'))).toEqual([]);
    await close(tab);
  });

  it('say what is wrong with them in a sentence, and can be cleared one by one', async () => {
    const tab = await signedIn();
    const { page } = tab;
    const wrong = 'The filter in the address cannot be used';
    const clear = (name: string) =>
      page.getByRole('button', { name: `Clear the ${name}`, exact: true }).click();
    await open(tab, '/board/WEB?priority=foo&label=bug&project=no&assignee=me&q=checkout', wrong);
    // The server refuses an unknown enum value before it looks at other values.
    expect(await page.getByRole('alert').locator('p:not(.small):not(:has(button))').allInnerTexts()).toEqual([
      'There is no priority “FOO”.',
    ]);
    await clear('priority');
    await page.getByText('“bug” is not the id of a label.').waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('“me” is not the id of a member.');
    expect(await page.getByRole('alert').innerText()).not.toMatch(/filter\.|Variable|expected/);
    await clear('label');
    await page.getByText('“bug”').waitFor({ state: 'detached' });
    await clear('project');
    await page.getByText('“no”').waitFor({ state: 'detached' });
    await clear('assignee');
    await checkout(page).waitFor();
    expect(searchOf(page)).toBe('?q=checkout');
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Filter of the board');
    await open(tab, `/board/WEB?q=${'a'.repeat(1_001)}`, wrong);
    await page.getByText('is too long').waitFor();
    await clear('filter');
    await checkout(page).waitFor();
    await close(tab);
  });

  it('name the label that may not exist if no issue matches', async () => {
    const tab = await signedIn();
    const { page } = tab;
    const unknown = `label_${'0'.repeat(25)}1`;
    await open(tab, `/board/WEB?q=checkout&label=${unknown}`, 'Booking Web');
    await page.getByText('The label that it names may not exist here.').waitFor();
    await page.getByRole('button', { name: 'Clear the label' }).click();
    await checkout(page).waitFor();
    expect(searchOf(page)).toBe('?q=checkout');
    await close(tab);
  });

  it('are printed in words, since paper shows no fields', async () => {
    const tab = await signedIn();
    const { page } = tab;
    const onPaper = page.locator('.print-only');
    await open(tab, '/board/WEB?priority=high&canceled=1&q=checkout', 'Booking Web');
    await page.getByLabel('Label').selectOption({ index: 1 });
    const label = (await page.getByLabel('Label').locator('option').nth(1).innerText()).replace(
      / \(\d+\)$/,
      '',
    );
    await page.getByLabel('Assignee').selectOption({ index: 1 });
    expect(await onPaper.isVisible()).toBe(false);
    await page.emulateMedia({ media: 'print' });
    expect(await onPaper.innerText()).toMatch(
      new RegExp(
        `^Filter: title contains “checkout”, assignee [^()]+, priority High, label ${label}, with canceled issues$`,
      ),
    );
    await open(tab, '/board/WEB', 'Booking Web');
    expect(await onPaper.count()).toBe(0);
    await open(tab, '/dashboard?range=365', 'Dashboard');
    expect(await onPaper.innerText()).toBe('Time range: 1 year');
    await close(tab);
  });
});
