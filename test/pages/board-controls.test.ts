import { expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeInBrowser, openBrowser } from './browser.ts';
import { useBoard } from './use-board.ts';
import { openTab, type Tab } from './walk.ts';

describeInBrowser('a board in a real browser (needs /usr/bin/chromium)', () => {
  const { pages, create, name, card, isLive } = useBoard();
  const { signedIn, open, close } = pages;

  it('keeps its filter in the address, and shows only issues that match', async () => {
    const tab = await signedIn();
    await create(name());
    await open(tab, '/board/WEB/?from=mail', 'Booking Web');
    expect(await tab.page.getByRole('button', { name: 'Clear' }).count()).toBe(0);
    await open(tab, '/board/WEB?priority=HIGH&q=checkout', 'Booking Web');
    await isLive(tab.page);
    expect(await tab.page.getByLabel('Priority').inputValue()).toBe('HIGH');
    const cards = await tab.page.locator('.card').count();
    const matching = await pages.app.graphql<{ issues: { totalCount: number } }>(
      `{ issues(filter: { team: { code: { eq: "WEB" } }, priority: { eq: HIGH }, title: { contains: "checkout" },
         status: { category: { nin: [CANCELED] } } }) { totalCount } }`,
    );
    expect(cards).toBe(matching.body.data?.issues.totalCount);
    await tab.page.getByRole('button', { name: 'Clear' }).click();
    await card(tab.page, 'Checkout on one page').waitFor();
    expect(await tab.page.getByLabel('Priority').inputValue()).toBe('');
    expect(await tab.page.evaluate('document.activeElement.ariaLabel')).toBe('Filter of the board');
    await tab.page.getByLabel('Priority').selectOption('HIGH');
    await tab.page.getByLabel('Priority').selectOption('');
    await tab.page.getByLabel('Title').fill('Seen on');
    await card(tab.page, 'Seen on').first().waitFor();
    expect(new URL(tab.page.url()).search).toBe('?q=Seen+on');
    await tab.page.getByRole('button', { name: 'Clear' }).click();
    await card(tab.page, 'Checkout on one page').waitFor();
    expect(new URL(tab.page.url()).search).toBe('');
    await close(tab);
  });

  it('reads issues for a filter that is typed while changes arrive', async () => {
    const tab = await signedIn();
    await open(tab, '/board/WEB', 'Booking Web');
    await isLive(tab.page);
    await create('Typed for: this one');
    await card(tab.page, 'Typed for: this one').waitFor();
    const [field, others] = [tab.page.getByLabel('Title'), Array.from({ length: 6 }, name)];
    const typed = field.fill('Typed for');
    for (const title of others) await create(title);
    await typed;
    await card(tab.page, 'Checkout on one page').waitFor({ state: 'detached' });
    expect(await tab.page.locator('.card .name').innerText()).toBe('Typed for: this one');
    await close(tab);
  });

  it('can be used with the keyboard alone', async () => {
    const { page, ...tab } = await signedIn();
    await open({ page, ...tab }, '/board/WEB', 'Booking Web');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to the content');
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement.type')).toBe('search');
    await page.getByRole('region', { name: 'Backlog' }).getByRole('link').first().focus();
    const first = await focused(page);
    await page.keyboard.press('ArrowDown');
    const below = await focused(page);
    await page.keyboard.press('ArrowRight');
    const inNextColumn = await focused(page);
    expect(new Set([first, below, inNextColumn]).size).toBe(3);
    await page.keyboard.press('ArrowLeft');
    expect(await focused(page)).toBe(below);
    await close({ page, ...tab });
  });

  it('keeps the board when a filter cannot be read, says so, and reads it when the server answers', async () => {
    const tab = await signedIn();
    const title = name();
    await create(title);
    await open(tab, '/board/WEB', 'Booking Web');
    await isLive(tab.page);
    const shows = (text: string) => tab.page.getByRole('status').filter({ hasText: text }).waitFor();
    // The server accepts the request, and does not answer.
    const restoreSilent = await pages.intercept(tab, async () => undefined);
    await tab.page.getByLabel('Title').fill('Seen on');
    await shows('Connecting');
    expect(await tab.page.getByLabel('Title').inputValue()).toBe('Seen on');
    await restoreSilent();
    const restore = await pages.intercept(tab, (route) => route.abort());
    await tab.page.getByLabel('Title').fill(title);
    await shows('Not up to date: The server does not answer.');
    expect(await tab.page.locator('.card').count()).toBeGreaterThan(1);
    await restore();
    await isLive(tab.page);
    expect(await tab.page.locator('.card .name').allInnerTexts()).toEqual([title]);
    await close(tab);
  });

  it('offers to clear a filter that is refused, and shows a choice that no open issue has', async () => {
    const tab = await signedIn();
    await tab.page.goto(`${pages.app.url}/board/WEB?priority=foo`);
    await tab.page.getByRole('heading', { name: 'The filter in the address cannot be used' }).waitFor();
    await tab.page.getByRole('button', { name: 'Clear the filter' }).click();
    await isLive(tab.page);
    expect(new URL(tab.page.url()).search).toBe('');
    const owner = await pages.app.tokenFor({ role: 'member' });
    const { body } = await pages.app.graphql<{ viewer: { member: { userAccountId: string } } }>(
      '{ viewer { member { userAccountId } } }',
      {},
      { token: owner },
    );
    const assignee = body.data?.viewer.member.userAccountId ?? '';
    await open(tab, `/board/WEB?assignee=${assignee}`, 'Booking Web');
    expect(await tab.page.getByLabel('Assignee').inputValue()).toBe(assignee);
    await close(tab);
  });

  it('goes to another team when the user chooses it, and drops filters by what only the former team has', async () => {
    const browser = await openBrowser({ keepsPages: true });
    const tab = await openTab(browser, pages.app.url, { token: pages.app.token });
    const { page } = tab;
    await open(tab, '/board/WEB?priority=HIGH', 'Booking Web');
    await page.getByLabel('Project').selectOption({ index: 1 });
    await isLive(page);
    await page.getByLabel('Team').focus();
    await page.keyboard.press('ArrowDown');
    const chosen = await page.getByLabel('Team').inputValue();
    expect([chosen === 'WEB', new URL(page.url()).pathname]).toEqual([false, '/board/WEB']);
    await page.getByRole('link', { name: 'Go', exact: true }).click();
    await page.waitForURL(`${pages.app.url}/board/${chosen}?priority=HIGH`);
    await isLive(page);
    await page.evaluate('history.back()');
    await page.waitForURL((url) => url.pathname === '/board/WEB', { waitUntil: 'commit' });
    await isLive(page);
    expect(await page.getByLabel('Team').inputValue()).toBe('WEB');
    await browser.close();
  });

  it('keeps the focus on a card that moves, and gives it to the first of those that are added', async () => {
    const tab = await signedIn();
    const title = name();
    const key = await create(title);
    const restore = await showFive(tab);
    await open(tab, '/board/WEB', 'Booking Web');
    await isLive(tab.page);
    await restore();
    const before = new Set(await keysOf(tab.page));
    await tab.page.getByRole('button', { name: 'Show more open issues' }).click();
    await card(tab.page, title).waitFor();
    const first = await tab.page.evaluate<string>('document.activeElement.dataset.key');
    expect([(await keysOf(tab.page)).includes(first), before.has(first)]).toEqual([true, false]);
    await tab.page.locator(`[data-key="${key}"]`).focus();
    await pages.update(key, { status: 'In Review' });
    await tab.page.getByRole('region', { name: 'In Review' }).getByRole('link', { name: title }).waitFor();
    expect(await tab.page.evaluate('document.activeElement.dataset.key')).toBe(key);
    await close(tab);
  });

  it('shows no older state of an issue when more issues are shown', async () => {
    const tab = await signedIn();
    const [kept, removed] = [name(), name()];
    const keys = { kept: await create(kept), removed: await create(removed) };
    const restore = await showFive(tab);
    await open(tab, '/board/WEB', 'Booking Web');
    await isLive(tab.page);
    await restore();
    const changed = Promise.withResolvers<void>();
    const read = Promise.withResolvers<void>();
    await pages.intercept(tab, async (route) => {
      const isFurtherPage = route.request().postData()?.includes('"after"');
      const response = await route.fetch();
      if (isFurtherPage) {
        read.resolve();
        await changed.promise;
      }
      await route.fulfill({ response });
    });
    await tab.page.getByRole('button', { name: 'Show more open issues' }).click();
    await read.promise;
    await pages.app.graphql(
      'mutation ($key: String!) { issueDelete(input: { key: $key }) { deletedIssueId } }',
      {
        key: keys.removed,
      },
    );
    await pages.update(keys.kept, { title: `${kept}, changed` });
    await card(tab.page, `${kept}, changed`).waitFor();
    changed.resolve();
    await tab.page.getByRole('button', { name: 'Show more open issues' }).waitFor({ state: 'detached' });
    expect(await card(tab.page, `${kept}, changed`).count()).toBe(1);
    expect(await tab.page.locator(`[data-key="${keys.removed}"]`).count()).toBe(0);
    await close(tab);
  });

  /** Lets the server answer in pages of five. Returns a function that ends this. */
  const showFive = (tab: Tab) =>
    pages.intercept(tab, async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as { data: { team: Open } };
      const { open } = answer.data.team;
      open.nodes = open.nodes.slice(0, 5);
      open.pageInfo = { hasNextPage: true, endCursor: await cursorAfter(5) };
      await route.fulfill({ response, json: answer });
    });

  const cursorAfter = async (first: number) => {
    const { body } = await pages.app.graphql<{ team: Open }>(
      `query ($first: Int!) { team(code: "WEB") { open: issues(first: $first, orderBy: { field: PRIORITY }, filter: {
         and: [{ team: { code: { eq: "WEB" } } }, { status: { isTerminal: { eq: false } } }]
       }) { nodes { key } pageInfo { hasNextPage endCursor } } } }`,
      { first },
    );
    return body.data?.team.open.pageInfo.endCursor ?? '';
  };
});

/** A page of the open issues of a team. */
interface Open {
  open: { nodes: { key: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string } };
}

async function keysOf(page: Page): Promise<(string | null)[]> {
  const cards = await page.locator('.card').all();
  return Promise.all(cards.map((each) => each.getAttribute('data-key')));
}

function focused(page: Page): Promise<string> {
  return page.evaluate('document.activeElement.textContent.trim()');
}
