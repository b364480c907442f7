import { describe, expect, it } from '@jest/globals';
import { hasBrowser } from './browser.ts';
import { usePages } from './use-pages.ts';
import { flawsOf, noFlaws } from './walk.ts';

// Without a browser the tests are reported as skipped, because `npm test` must not need one.
const described = hasBrowser ? describe : describe.skip;

described('signing in to the pages in a real browser (needs /usr/bin/chromium)', () => {
  const pages = usePages();
  const { visitor, open, close } = pages;

  it('the address that startup prints signs in, and keeps no token in the address', async () => {
    const tab = await visitor();
    await tab.page.goto(`${pages.app.url}/#token=${pages.app.token}`);
    await tab.page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(tab.page.url()).toBe(`${pages.app.url}/`);
    await tab.page.getByRole('link', { name: 'Boards', exact: true }).click();
    await tab.page.getByRole('heading', { name: 'Payments' }).waitFor();
    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await tab.page.getByRole('textbox', { name: 'Access token' }).fill(pages.app.token);
    await tab.page.keyboard.press('Enter');
    await tab.page.getByRole('heading', { name: 'Payments' }).waitFor();
    await close(tab);
  }, 120_000);

  it('a page explains what to do without a token, with a wrong one, without a scope, and offline', async () => {
    const tab = await visitor();
    const expectHeading = async (token: string, heading: string) => {
      await tab.page.goto(`${pages.app.url}/board/WEB#token=${token}`);
      await tab.page.reload();
      await tab.page.getByRole('heading', { level: 1, name: heading }).waitFor();
      expect(await flawsOf({ ...tab, complaints: [] })).toEqual(noFlaws);
    };
    await tab.page.goto(`${pages.app.url}/board/WEB`);
    await tab.page.getByRole('heading', { level: 1, name: 'Sign in with an access token' }).waitFor();
    expect(await flawsOf(tab)).toEqual(noFlaws);
    await expectHeading(`wg_${'0'.repeat(48)}`, 'The token does not work any more');
    await expectHeading(
      await pages.app.tokenFor({ scopes: ['issues:read'] }),
      'The token may not read this page',
    );
    expect(await tab.page.getByRole('alert').innerText()).toContain('It lacks teams:read');
    await tab.page.goto(`${pages.app.url}/board/NOPE#token=${pages.app.token}`);
    await tab.page.getByText('There is no team NOPE').waitFor();
    await open(tab, '/board', 'Boards');
    await tab.page.route('**/graphql', (route) => route.abort());
    await tab.page.reload();
    await tab.page.getByRole('heading', { level: 1, name: 'The server does not answer' }).waitFor();
    await tab.page.unroute('**/graphql');
    await tab.page.getByRole('button', { name: 'Try again' }).click();
    await tab.page.getByRole('heading', { level: 1, name: 'Boards' }).waitFor();
    await close(tab);
  }, 180_000);
});
