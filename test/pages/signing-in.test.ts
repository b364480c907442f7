import { expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { describeInBrowser, openBrowser } from './browser.ts';
import { usePages } from './use-pages.ts';
import { flawsOf, noFlaws, openTab, type Tab } from './walk.ts';

describeInBrowser('signing in to the pages in a real browser (needs /usr/bin/chromium)', () => {
  const pages = usePages();
  const { visitor, signedIn, open, close } = pages;

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
  });

  it('a page explains what to do without a token, with a wrong one, without a scope, and offline', async () => {
    const tab = await visitor();
    tab.page.on('dialog', (dialog) => void dialog.accept());
    const expectHeading = async (token: string, heading: string) => {
      await tab.page.goto(`${pages.app.url}/board/WEB#token=${token}`);
      await tab.page.getByRole('heading', { level: 1, name: heading }).waitFor();
      expect(tab.page.url()).toBe(`${pages.app.url}/board/WEB`);
      expect(await flawsOf({ ...tab, complaints: [] })).toEqual(noFlaws);
    };
    await tab.page.goto(`${pages.app.url}/board/WEB`);
    await tab.page.getByRole('heading', { level: 1, name: 'Sign in with an access token' }).waitFor();
    expect(await flawsOf(tab)).toEqual(noFlaws);
    await expectHeading(`wg_${'0'.repeat(48)}`, 'This token does not work');
    await expectHeading(
      await pages.app.tokenFor({ scopes: ['issues:read'] }),
      'The token may not read this page',
    );
    expect(await tab.page.getByRole('alert').innerText()).toContain('It lacks teams:read');
    const teams = await pages.app.tokenFor({ scopes: ['teams:read'] });
    await tab.page.goto(`${pages.app.url}/board/WEB#token=${teams}`);
    // A scope that allows writes would suffice as well, but is not named.
    await tab.page.getByText('It lacks issues:read. Create one that has it').waitFor();
    await tab.page.goto(`${pages.app.url}/board/NOPE#token=${pages.app.token}`);
    await tab.page.getByText('There is no team NOPE').waitFor();
    await open(tab, '/board', 'Boards');
    await tab.page.route('**/graphql', (route) => route.abort());
    await tab.page.reload();
    await tab.page.getByRole('heading', { level: 1, name: 'The server does not answer' }).waitFor();
    const clicked = Promise.withResolvers<void>();
    // The page also tries again by itself, and must not be answered before the click.
    await tab.page.route('**/graphql', async (route) => {
      await clicked.promise;
      // The click has canceled the request of an attempt before it.
      await route.continue().catch(() => undefined);
    });
    await tab.page.getByRole('button', { name: 'Try again' }).click();
    clicked.resolve();
    await tab.page.getByRole('heading', { level: 1, name: 'Boards' }).waitFor();
    await close(tab);
  });

  it('signing out leaves nothing behind the Back button', async () => {
    const browser = await openBrowser({ keepsPages: true });
    const tab = await openTab(browser, pages.app.url);
    const { page } = tab;
    await open(tab, `/dashboard#token=${pages.app.token}`, 'Dashboard');
    await page.evaluate(
      "addEventListener('pageshow', ({ persisted }) => sessionStorage.setItem('was kept', String(persisted)))",
    );
    await open(tab, '/board', 'Boards');
    await page.getByRole('button', { name: 'Sign out' }).click();
    const form = page.getByRole('heading', { level: 1, name: 'Sign in with an access token' });
    await form.waitFor();
    await page.evaluate('history.back()');
    await page.waitForURL('**/dashboard');
    await form.waitFor();
    expect(await page.evaluate("sessionStorage.getItem('was kept')")).toBe('true');
    expect(await page.locator('.tiles').count()).toBe(0);
    await browser.close();
  });

  it('signing out leaves nothing behind the Back button of a page into which the token was typed', async () => {
    const browser = await openBrowser({ keepsPages: true });
    const { page } = await openTab(browser, pages.app.url);
    await page.goto(`${pages.app.url}/v1/docs`);
    await page.locator('.opblock').first().waitFor();
    await page.evaluate(
      "addEventListener('pageshow', ({ persisted }) => sessionStorage.setItem('was kept', String(persisted)))",
    );
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    await page.getByRole('dialog').locator('input').fill(pages.app.token);
    await page.getByRole('button', { name: 'Apply credentials' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'authorization button locked' }).first().waitFor();
    await page.getByRole('link', { name: 'Boards', exact: true }).click();
    await page.getByRole('heading', { name: 'Payments' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign in with an access token' }).waitFor();
    await page.evaluate('history.back()');
    await page.waitForURL('**/v1/docs', { waitUntil: 'commit' });
    await page.getByRole('button', { name: 'authorization button unlocked' }).first().waitFor();
    expect(await page.evaluate("sessionStorage.getItem('was kept')")).toBe('true');
    expect(await page.getByRole('button', { name: 'authorization button locked' }).count()).toBe(0);
    await browser.close();
  });

  it('a new tab takes the token of the others, and signing out holds for all of them', async () => {
    const { app } = pages;
    const tab = await visitor();
    const context = tab.page.context();
    const openBoards = async (hash = '') => {
      const page = await context.newPage();
      await page.goto(`${app.url}/board${hash}`);
      return page;
    };
    const boards = (page: Page) => page.getByRole('heading', { level: 1, name: 'Boards' }).waitFor();
    const form = (page: Page) =>
      page.getByRole('heading', { level: 1, name: 'Sign in with an access token' }).waitFor();
    await open(tab, `/dashboard#token=${app.token}`, 'Dashboard');
    const second = await openBoards();
    await boards(second);
    const tokenIn = (page: Page) => page.evaluate("sessionStorage.getItem('workgraph.token')");
    expect(await tokenIn(second)).toBe(app.token);
    // The new tab cannot know which of two tokens to use.
    const other = await openBoards(`#token=${await app.tokenFor({ scopes: ['issues:read', 'teams:read'] })}`);
    await boards(other);
    // The clock of the new tab stands still until it has been offered both tokens.
    const third = await context.newPage();
    await third.clock.install({ time: 0 });
    await third.clock.pauseAt(1_000);
    await third.addInitScript(`globalThis.offered = new Set();
      new BroadcastChannel('workgraph.token').onmessage = ({ data }) => data.kind === 'offer' && offered.add(data.token);`);
    await third.goto(`${app.url}/board`);
    await eventually(async () => (await third.evaluate('offered.size')) === 2);
    await third.clock.runFor(1_000);
    await form(third);
    expect(await tokenIn(third)).toBeNull();
    await second.getByRole('button', { name: 'Sign out' }).click();
    await form(second);
    await form(tab.page);
    expect(await tokenIn(tab.page)).toBeNull();
    await other.reload();
    await boards(other);
    await close(tab);
  });

  it('a new tab does not use the token that another tab has offered and then signs out of', async () => {
    const tab = await visitor();
    await open(tab, `/dashboard#token=${pages.app.token}`, 'Dashboard');
    const second = await tab.page.context().newPage();
    await second.clock.install({ time: 0 });
    await second.clock.pauseAt(1_000);
    await second.addInitScript(`globalThis.offered = false;
      new BroadcastChannel('workgraph.token').onmessage = ({ data }) => (offered ||= data.kind === 'offer');`);
    await second.goto(`${pages.app.url}/board`);
    await eventually(() => second.evaluate('offered'));
    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await tab.page.getByRole('heading', { level: 1, name: 'Sign in with an access token' }).waitFor();
    await second.clock.runFor(1_000);
    await second.getByRole('heading', { level: 1, name: 'Sign in with an access token' }).waitFor();
    expect(await second.evaluate("sessionStorage.getItem('workgraph.token')")).toBeNull();
    await close(tab);
  });

  it('a tab that shows no page while another signs out of its token is signed out when it comes back', async () => {
    const { app } = pages;
    const tab = await visitor();
    const form = (page: Page) =>
      page.getByRole('heading', { level: 1, name: 'Sign in with an access token' }).waitFor();
    await open(tab, `/dashboard#token=${app.token}`, 'Dashboard');
    const other = await tab.page.context().newPage();
    await other.goto(`${app.url}/board#token=${app.token}`);
    await other.getByRole('heading', { level: 1, name: 'Boards' }).waitFor();
    await other.goto(`${app.url}/healthz`);
    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await form(tab.page);
    await other.goBack();
    await form(other);
    expect(await other.evaluate("sessionStorage.getItem('workgraph.token')")).toBeNull();
    // After the token has been entered again, tabs that are opened later use it as well.
    await open(tab, `/dashboard#token=${app.token}`, 'Dashboard');
    await tab.page.reload();
    await tab.page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
    await close(tab);
  });

  it('the form reads a token that was copied with surrounding text, and refuses a text without one', async () => {
    const tab = await visitor();
    await tab.page.goto(`${pages.app.url}/board`);
    const field = tab.page.getByRole('textbox', { name: 'Access token' });
    await field.fill('wg_é');
    await tab.page.keyboard.press('Enter');
    expect(await tab.page.evaluate('document.activeElement.validationMessage')).toContain(
      'This is not a token',
    );
    await field.fill(` Bearer \u200b${pages.app.token}\ufeff `);
    await tab.page.keyboard.press('Enter');
    await tab.page.getByRole('heading', { name: 'Payments' }).waitFor();
    await close(tab);
  });

  it('the address loses its token even if more parameters follow', async () => {
    const tab = await visitor();
    await tab.page.goto(`${pages.app.url}/board#token=${pages.app.token}&from=chat`);
    await tab.page.getByRole('heading', { name: 'Payments' }).waitFor();
    expect(tab.page.url()).toBe(`${pages.app.url}/board`);
    await close(tab);
  });

  it('the address of the reference loses its token, and the history keeps none', async () => {
    const tab = await visitor();
    const addresses: string[] = [];
    tab.page.on('framenavigated', (frame) => addresses.push(frame.url()));
    await tab.page.goto(`${pages.app.url}/v1/docs#token=${pages.app.token}`);
    await tab.page.locator('.opblock').first().waitFor();
    await tab.page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(addresses.slice(1).join(' ')).not.toContain(pages.app.token.slice(3));
    expect(tab.page.url()).toBe(`${pages.app.url}/v1/docs`);
    await close(tab);
  });

  it('a tab that logged out in the reference does not request the token of another tab', async () => {
    const tab = await visitor();
    await open(tab, `/board#token=${pages.app.token}`, 'Boards');
    const second = await tab.page.context().newPage();
    await second.goto(`${pages.app.url}/v1/docs`);
    await second.getByRole('button', { name: 'Sign out' }).waitFor();
    await second.locator('.opblock').first().waitFor();
    await second.getByRole('button', { name: 'Authorize', exact: true }).click();
    await second.getByRole('button', { name: 'Remove authorization' }).click();
    await second.clock.install();
    await second.goto(`${pages.app.url}/board`);
    await second.getByRole('heading', { level: 1, name: 'Sign in with an access token' }).waitFor();
    await second.clock.runFor(3_000);
    expect(await second.evaluate("sessionStorage.getItem('workgraph.token')")).toBeNull();
    await close(tab);
  });

  it('the pages read a token as it was typed into the reference, and ask for another if it is not a token', async () => {
    const tab = await visitor();
    const store = (typed: string) =>
      tab.page.evaluate(`sessionStorage.setItem('workgraph.token', ${JSON.stringify(typed)})`);
    await tab.page.goto(`${pages.app.url}/board`);
    await store(`Bearer ${pages.app.token}`);
    await open(tab, '/board', 'Boards');
    await store('wg_é');
    await open(tab, '/board', 'Sign in with an access token');
    expect(tab.complaints).toEqual([]);
    await close(tab);
  });

  it('an address does not replace the token of a tab that is signed in, unless the user agrees', async () => {
    const tab = await visitor();
    const other = await pages.app.tokenFor({ scopes: ['issues:read'] });
    let answer: 'accept' | 'dismiss' = 'dismiss';
    const dialogs: string[] = [];
    tab.page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog[answer]();
    });
    await open(tab, `/board#token=${pages.app.token}`, 'Boards');
    await tab.page.goto(`${pages.app.url}/#token=${pages.app.token}`);
    expect(dialogs).toEqual([]);
    await open(tab, `/board#token=${other}`, 'Boards');
    expect(dialogs).toEqual([expect.stringContaining('another access token')]);
    answer = 'accept';
    await open(tab, `/board/WEB#token=${other}`, 'The token may not read this page');
    expect(dialogs).toHaveLength(2);
    await close(tab);
  });

  it('an address whose encoding is broken has a page that says so', async () => {
    const tab = await visitor();
    tab.page.on('dialog', (dialog) => void dialog.accept());
    await open(tab, '/dashboard#token=%', 'This token does not work');
    await open(tab, `/board#token=${pages.app.token}`, 'Boards');
    await open(tab, '/issues/%E0%A4%A', 'There is no issue %E0%A4%A');
    await open(tab, '/projects/%E0%A4%A', 'There is no project %E0%A4%A');
    await open(tab, '/board/%E0%A4%A', 'There is no team %E0%A4%A');
    // Only the wrong token is refused, and no page throws an error.
    expect(tab.complaints).toEqual([expect.stringContaining('401')]);
    await close(tab);
  });

  it('a page whose token is revoked shows the form, which nothing overwrites', async () => {
    const token = await pages.app.tokenFor();
    const tabs = [await signedIn({ token }), await signedIn({ token }), await signedIn({ token })];
    const [board, issue, refused] = tabs as [Tab, Tab, Tab];
    await open(board, '/board/WEB', 'Booking Web');
    for (const tab of [issue, refused]) await tab.page.goto(`${pages.app.url}/issues/WEB-1`);
    for (const { page } of tabs) await page.getByRole('status').filter({ hasText: 'Live' }).waitFor();

    // One page meets the refusal when it reads again, while its stream is still open.
    await pages.intercept(refused, (route) =>
      route.fulfill({ status: 401, json: { code: 'unauthenticated', detail: 'The token is unknown.' } }),
    );
    const streamClosed = refused.page.waitForEvent(
      'requestfailed',
      (request) => request.headers()['accept'] === 'text/event-stream',
    );
    await pages.update('WEB-1', { title: 'Renamed before the token is revoked' });
    await streamClosed;

    const { body } = await pages.app.graphql<{ viewer: { accessToken: { id: string } } }>(
      '{ viewer { accessToken { id } } }',
      {},
      { token },
    );
    await pages.app.graphql(
      'mutation ($id: ID!) { accessTokenRevoke(input: { id: $id }) { accessToken { id } } }',
      { id: body.data?.viewer.accessToken.id },
    );
    for (const { page } of tabs) {
      await page.getByRole('heading', { name: 'This token does not work' }).waitFor();
      const field = page.getByRole('textbox', { name: 'Access token' });
      await field.fill('typed');
      await page.evaluate("['offline', 'online'].forEach((name) => dispatchEvent(new Event(name)))");
      expect(await field.inputValue()).toBe('typed');
    }
    await close(...tabs);
  });
});
