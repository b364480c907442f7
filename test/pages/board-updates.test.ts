import { expect, it } from '@jest/globals';
import { inProcess } from '../cli/workgraph.ts';
import { describeInBrowser } from './browser.ts';
import { useBoard } from './use-board.ts';

describeInBrowser('a board in a real browser (needs /usr/bin/chromium)', () => {
  const { pages, create, name, card, signedInBoard, isLive, isLiveIn } = useBoard();
  const { signedIn, open, close } = pages;

  it('shows changes of others in two windows, and announces them to screen readers', async () => {
    const tabs = [await signedIn(), await signedIn()];
    for (const tab of tabs) await open(tab, '/board/WEB', 'Booking Web');
    for (const { page } of tabs) await isLive(page);
    const title = name();
    const key = await create(title);
    for (const { page } of tabs) {
      await page.getByRole('region', { name: 'Todo' }).getByRole('link', { name: title }).waitFor();
      await page
        .locator('[aria-live]')
        .filter({ hasText: `${key} ${title}: Todo` })
        .waitFor();
    }
    const done = await pages.app.graphql<{ team: { statuses: { id: string; name: string }[] } }>(
      '{ team(code: "WEB") { statuses { id name } } }',
    );
    const statusId = done.body.data?.team.statuses.find(({ name }) => name === 'In Review')?.id;
    await pages.app.graphql(
      'mutation ($key: String!, $statusId: ID!) { issueUpdate(input: { key: $key, statusId: $statusId }) { issue { key } } }',
      { key, statusId },
    );
    for (const { page } of tabs) {
      await page.getByRole('region', { name: 'In Review' }).getByRole('link', { name: title }).waitFor();
      expect(await card(page, title).count()).toBe(1);
    }
    expect(tabs.map(({ complaints }) => complaints)).toEqual([[], []]);
    await close(...tabs);
  });

  it('shows a write within a second in two windows', async () => {
    const tabs = [await signedIn(), await signedIn()];
    for (const tab of tabs) await open(tab, '/board/WEB', 'Booking Web');
    for (const { page } of tabs) await isLive(page);
    const delays: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const title = name();
      const shown = tabs.map(({ page }) => page.evaluate<number>(whenShown(title)));
      const sent = Date.now();
      await create(title);
      for (const at of await Promise.all(shown)) delays.push(at - sent);
    }
    // The median, because a busy machine may delay one of them.
    expect(delays.toSorted((one, other) => one - other)[delays.length / 2]).toBeLessThan(1_000);
    await close(...tabs);
  });

  it('misses nothing in five seconds without a network, and closes its stream meanwhile', async () => {
    const tab = await signedIn();
    await open(tab, '/board/WEB', 'Booking Web');
    await isLive(tab.page);
    const closed = tab.page.waitForEvent('requestfailed', (request) => isStream(request.headers()));
    await tab.page.context().setOffline(true);
    await closed;
    const title = name();
    await create(title);
    await tab.page.getByRole('status').filter({ hasText: 'Reconnecting' }).waitFor();
    await tab.page.evaluate('new Promise((done) => setTimeout(done, 5_000))');
    expect(await card(tab.page, title).count()).toBe(0);
    const resumed = tab.page.waitForRequest((request) => isStream(request.headers()));
    await tab.page.context().setOffline(false);
    await card(tab.page, title).waitFor();
    expect((await resumed).headers()['last-event-id']).toMatch(/^c1-/);
    await isLive(tab.page);
    await close(tab);
  });

  it('closes its stream when another tab is shown, and resumes when it is shown again', async () => {
    const strip = await pages.tabStrip();
    const tab = await strip.open(signedInBoard());
    await isLiveIn(tab);
    const closed = tab.waitForAbortedRequest();
    await strip.open(`${pages.app.url}/`);
    await closed;
    expect(await tab.isHidden()).toBe(true);
    const title = name();
    await create(title);
    const resumed = tab.waitForStreamRequest();
    await tab.show();
    await tab.waitFor('.card', title);
    expect((await resumed)['Last-Event-ID']).toMatch(/^c1-/);
    await isLiveIn(tab);
    await strip.close();
  });

  it('is live in the seventh tab of a browser, and in the first when it is shown again', async () => {
    const strip = await pages.tabStrip();
    const first = await strip.open(signedInBoard());
    await isLiveIn(first);
    for (let tabs = 2; tabs <= 7; tabs += 1) await isLiveIn(await strip.open(signedInBoard()));
    const title = name();
    await create(title);
    await first.show();
    await first.waitFor('.card', title);
    await isLiveIn(first);
    await strip.close();
  });

  it('reads everything again if changes after its cursor were removed from the log', async () => {
    const strip = await pages.tabStrip();
    const tab = await strip.open(signedInBoard());
    await isLiveIn(tab);
    const closed = tab.waitForAbortedRequest();
    await strip.open(`${pages.app.url}/`);
    await closed;
    await inProcess(pages.app, 'changes reset', ['--json']);
    const title = name();
    await create(title);
    await tab.show();
    await tab.waitFor('.card', title);
    await isLiveIn(tab);
    await strip.close();
  });

  it('shows an issue whose title contains a line separator', async () => {
    const tab = await signedIn();
    await open(tab, '/board/WEB', 'Booking Web');
    await isLive(tab.page);
    const key = await create('Before\u2028after\u2029the end');
    await tab.page.locator(`[data-key="${key}"]`).waitFor();
    await close(tab);
  });

  it('counts the sub-issues of a card that are done, as they change', async () => {
    const tab = await signedIn();
    const title = name();
    const key = await create(title);
    const { body } = await pages.app.graphql<{ issue: { id: string } }>(
      'query ($key: String!) { issue(key: $key) { id } }',
      { key },
    );
    const part = await pages.create('WEB', { title: name(), parentIssueId: body.data?.issue.id ?? '' });
    await open(tab, '/board/WEB', 'Booking Web');
    await isLive(tab.page);
    const whole = tab.page.locator(`[data-key="${key}"]`);
    await whole.getByText('0/1').waitFor();
    await pages.update(part, { status: 'Done' });
    await whole.getByText('1/1').waitFor();
    expect(await whole.getByText('0/1').count()).toBe(0);
    await close(tab);
  });
});

function isStream(headers: Record<string, string>): boolean {
  return headers['accept'] === 'text/event-stream';
}

/** An expression for the page that waits until a card is there, and returns the time. */
function whenShown(title: string): string {
  return `new Promise((resolve) => {
    const look = () => document.body.innerText.includes(${JSON.stringify(title)}) && resolve(Date.now());
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
    look(); // The card may already be there.
  })`;
}
