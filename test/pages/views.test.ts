import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Download, Page } from 'playwright-core';
import { inProcess } from '../cli/workgraph.ts';
import type { App } from '../support/app.ts';
import { hasBrowser, openBrowser, overflowOf } from './browser.ts';
import { flawsOf, looks, noFlaws, openTab, setHidden, type Tab } from './walk.ts';

// Without a browser the tests are reported as skipped, because `npm test` must not need one.
const described = hasBrowser ? describe : describe.skip;

/** The pages that read the graph, with their headings. */
const views = [
  ['/dashboard', 'Dashboard'],
  ['/board', 'Boards'],
  ['/board/web', 'Booking Web'],
  ['/issues/crw-45', 'Certificate warnings arrive a day late'],
  ['/projects/checkout', 'One-Page Checkout'],
] as const;

/** The pages that are the same for all users, with their headings. */
const plainPages = [
  ['/', 'One graph of work, two ways to ask.'],
  ['/schema', 'Schema'],
  ['/schema/Issue', 'Issue'],
] as const;

described('the pages in a real browser (needs /usr/bin/chromium)', () => {
  let app: App;
  let browser: Browser;

  beforeAll(async () => {
    const { startApp } = await import('../support/app.ts');
    app = await startApp({ demo: true });
    browser = await openBrowser();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });

  const signedIn = (options = {}) => openTab(browser, app.url, { token: app.token, ...options });
  const teamIdOf = async (code: string) =>
    (
      await app.graphql<{ team: { id: string } }>('query ($code: String!) { team(code: $code) { id } }', {
        code,
      })
    ).body.data?.team.id;
  /** Attaches a file of the demo to an issue. */
  const attach = async (issueKey: string, fileName: string, contentType: string) => {
    const bytes = await readFile(join(import.meta.dirname, '../../demo/files', fileName));
    const { body } = await app.graphql<{ attachmentCreate: { uploadUrl: string } }>(
      'mutation ($input: AttachmentCreateInput!) { attachmentCreate(input: $input) { uploadUrl } }',
      { input: { issueKey, fileName, contentType, sizeBytes: bytes.length } },
    );
    const { uploadUrl = '' } = body.data?.attachmentCreate ?? {};
    await fetch(uploadUrl, { method: 'PUT', headers: { 'Content-Type': contentType }, body: bytes });
  };
  const close = (...tabs: Tab[]) => Promise.all(tabs.map(({ page }) => page.context().close()));
  const open = async (tab: Tab, path: string, heading: string) => {
    await tab.page.goto(app.url + path);
    await tab.page.getByRole('heading', { level: 1, name: heading }).waitFor();
  };

  describe.each(looks)('at $name', ({ options }) => {
    it.each([...views, ...plainPages])(
      '%s has no finding of axe, fits the window, and asks no other host',
      async (path, heading) => {
        const tab = await signedIn(options);
        await open(tab, path, heading);
        expect(await overflowOf(tab.page)).toBe(0);
        if (process.env['PICTURES'] && path === '/dashboard') await takePicture(tab.page, options);
        // The panel is opened, so that its content is checked as well.
        for (const folded of await tab.page.locator('.query-panel summary').all()) await folded.click();
        expect(await flawsOf(tab)).toEqual(noFlaws);
        await close(tab);
      },
      120_000,
    );
  });

  it.each(views)(
    '%s is sent at most 150 KB, and shows what its query cost and leads to GraphiQL with it',
    async (path, heading) => {
      const tab = await signedIn();
      const answered = tab.page.waitForResponse((response) => response.url().endsWith('/graphql'));
      await open(tab, path, heading);
      const cost = ((await (await answered).json()) as Costed).extensions.cost;
      expect(tab.bytes()).toBeGreaterThan(5_000);
      expect(tab.bytes()).toBeLessThan(150_000);
      const panel = tab.page.getByRole('complementary', { name: 'The query behind this page' });
      expect(await panel.locator('summary').innerText()).toMatch(
        new RegExp(
          `cost ${cost.actual} of ${cost.requested.toLocaleString('en')}\\s+\\d+ statements\\s+\\d+ ms`,
        ),
      );
      await panel.locator('summary').click();
      const link = await panel.getByRole('link', { name: 'Open in GraphiQL' }).getAttribute('href');
      const { searchParams } = new URL(link ?? '', app.url);
      const variables = JSON.parse(searchParams.get('variables') ?? '') as Record<string, unknown>;
      const again = await app.graphql(searchParams.get('query') ?? '', variables);
      expect(again.body.errors).toBeUndefined();
      await close(tab);
    },
    120_000,
  );

  it('the address that startup prints signs in, and keeps no token in the address', async () => {
    const tab = await openTab(browser, app.url);
    await tab.page.goto(`${app.url}/#token=${app.token}`);
    await tab.page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(tab.page.url()).toBe(`${app.url}/`);
    await tab.page.getByRole('link', { name: 'Boards', exact: true }).click();
    await tab.page.getByRole('heading', { name: 'Payments' }).waitFor();
    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await tab.page.getByRole('textbox', { name: 'Access token' }).fill(app.token);
    await tab.page.keyboard.press('Enter');
    await tab.page.getByRole('heading', { name: 'Payments' }).waitFor();
    await close(tab);
  }, 120_000);

  it('a page explains what to do without a token, with a wrong one, without a scope, and offline', async () => {
    const tab = await openTab(browser, app.url);
    const expectHeading = async (token: string, heading: string) => {
      await tab.page.goto(`${app.url}/board/WEB#token=${token}`);
      await tab.page.reload();
      await tab.page.getByRole('heading', { level: 1, name: heading }).waitFor();
      expect(await flawsOf({ ...tab, complaints: [] })).toEqual(noFlaws);
    };
    await tab.page.goto(`${app.url}/board/WEB`);
    await tab.page.getByRole('heading', { level: 1, name: 'Sign in with an access token' }).waitFor();
    expect(await flawsOf(tab)).toEqual(noFlaws);
    await expectHeading(`wg_${'0'.repeat(48)}`, 'The token does not work any more');
    await expectHeading(await app.tokenFor({ scopes: ['issues:read'] }), 'The token may not read this page');
    expect(await tab.page.getByRole('alert').innerText()).toContain('It lacks teams:read');
    await tab.page.goto(`${app.url}/board/NOPE#token=${app.token}`);
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

  describe('the dashboard', () => {
    const stored = async (team: string | null, days: number) => {
      const day = (back: number) => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
      const { body } = await app.graphql<{ issueTrend: { periods: Record<'created' | 'closed', number>[] } }>(
        `query ($team: String, $from: Date!, $to: Date!) {
          issueTrend(every: DAY, from: $from, to: $to, filter: { team: { code: { eq: $team } } }) { periods { created closed } }
        }`,
        { team, from: day(days - 1), to: day(0) },
      );
      const periods = body.data?.issueTrend.periods ?? [];
      const sum = (name: 'created' | 'closed') => periods.reduce((total, period) => total + period[name], 0);
      return { created: sum('created'), closed: sum('closed') };
    };
    const tile = (page: Page, name: string) =>
      page.locator('.tiles > div').filter({ hasText: name }).locator('dd').first();

    it('shows the team and the range in its address, and follows changes', async () => {
      const tab = await signedIn({ timezoneId: 'UTC' });
      await open(tab, '/dashboard?team=PAY&range=30', 'Payments');
      await tab.page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
      const before = await stored('PAY', 30);
      expect(await tile(tab.page, 'Closed').innerText()).toBe(String(before.closed));
      expect(await tile(tab.page, 'Created').innerText()).toBe(String(before.created));
      const input = { teamId: await teamIdOf('PAY'), title: 'Counted on the dashboard' };
      await app.graphql(
        'mutation ($input: IssueCreateInput!) { issueCreate(input: $input) { issue { key } } }',
        { input },
      );
      await tile(tab.page, 'Created')
        .filter({ hasText: new RegExp(`^${before.created + 1}$`) })
        .waitFor();
      await tab.page.getByLabel('Team').selectOption('');
      await tab.page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
      await tab.page.getByRole('radio', { name: '1 year' }).check();
      await tab.page.getByText('each month').first().waitFor();
      expect(new URL(tab.page.url()).search).toBe('?range=365');
      await close(tab);
    }, 120_000);

    it('saves the numbers of a chart as CSV, which are those of the graph', async () => {
      const tab = await signedIn({ timezoneId: 'UTC' });
      await open(tab, '/dashboard?range=30', 'Dashboard');
      const saved = tab.page.waitForEvent('download');
      await tab.page.getByRole('button', { name: 'Created against closed as CSV' }).click();
      const text = await textOf(await saved);
      const [columns, ...rows] = text
        .trimEnd()
        .split('\r\n')
        .map((line) => line.split(','));
      expect(columns).toEqual(['From', 'Created', 'Started', 'Closed']);
      expect(rows).toHaveLength(30);
      const sum = (column: number) => rows.reduce((total, row) => total + Number(row[column]), 0);
      expect({ created: sum(1), closed: sum(3) }).toEqual(await stored(null, 30));
      expect(await tab.page.getByRole('button', { name: / as CSV$/ }).count()).toBe(
        await tab.page.locator('.figure').count(),
      );
      await close(tab);
    }, 120_000);
  });

  describe('an issue', () => {
    it('shows pictures of its attachments, and texts when the user opens them', async () => {
      await attach('CRW-45', 'mock-up-1.png', 'image/png');
      await attach('CRW-45', 'analysis-1.py', 'text/x-python');
      const tab = await signedIn();
      await open(tab, '/issues/CRW-45', 'Certificate warnings arrive a day late');
      const picture = tab.page.getByRole('img', { name: 'Preview of mock-up-1.png' });
      await picture.scrollIntoViewIfNeeded();
      // `decode` rejects if the picture cannot be shown.
      await picture.evaluate((image: unknown) => (image as { decode(): Promise<void> }).decode());
      await tab.page.getByText('Preview of analysis-1.py').click();
      await tab.page.locator('pre[aria-label="analysis-1.py"]').filter({ hasText: 'import' }).waitFor();
      expect(await flawsOf(tab)).toEqual(noFlaws);
      await close(tab);
    }, 120_000);

    it('escapes texts of users, and shows a new comment at once', async () => {
      const tab = await signedIn();
      const description = [
        '<img src=x onerror="document.title = \'it ran\'">',
        '- one `point`',
        'See https://example.com/a?b=1, and javascript:alert(1)',
      ].join('\n');
      const { body } = await app.graphql<{ issueCreate: { issue: { key: string } } }>(
        'mutation ($input: IssueCreateInput!) { issueCreate(input: $input) { issue { key } } }',
        { input: { teamId: await teamIdOf('SUP'), title: '<b>Bold</b>', description } },
      );
      const key = body.data?.issueCreate.issue.key ?? '';
      await open(tab, `/issues/${key}`, '<b>Bold</b>');
      const section = tab.page.getByRole('region', { name: 'Description' });
      expect(await section.innerText()).toContain('<img src=x onerror=');
      expect(await section.locator('li code').innerText()).toBe('point');
      expect(await section.getByRole('link').allInnerTexts()).toEqual(['https://example.com/a?b=1']);
      await tab.page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
      await app.graphql(
        'mutation ($key: String!) { commentCreate(input: { issueKey: $key, body: "Just said." }) { comment { id } } }',
        { key },
      );
      await tab.page.getByText('Just said.').waitFor();
      expect(await tab.page.title()).toBe(`${key} <b>Bold</b> – workgraph`);
      expect(await flawsOf(tab)).toEqual(noFlaws);
      await close(tab);
    }, 120_000);

    it('that does not exist has a page that says so, as have a missing project and an unknown address', async () => {
      const tab = await signedIn();
      await open(tab, '/issues/WEB-99999', 'There is no issue WEB-99999');
      await open(tab, '/projects/nope', 'There is no project NOPE');
      const complaints = tab.complaints.length;
      const response = await tab.page.goto(`${app.url}/somewhere/else`);
      expect(response?.status()).toBe(404);
      await tab.page.getByRole('heading', { level: 1, name: 'There is nothing here' }).waitFor();
      // The browser itself complains about the status.
      expect(tab.complaints.splice(complaints)).toHaveLength(1);
      expect(await flawsOf(tab)).toEqual(noFlaws);
      await tab.page.getByRole('main').getByRole('link', { name: 'Dashboard' }).click();
      await tab.page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
      await close(tab);
    }, 120_000);
  });

  describe('a board', () => {
    let serial = 0;
    const create = async (title: string) => {
      const { body } = await app.graphql<{ issueCreate: { issue: { key: string; revision: number } } }>(
        `mutation ($teamId: ID!, $title: String!) { issueCreate(input: { teamId: $teamId, title: $title }) { issue { key revision } } }`,
        { teamId: await teamIdOf('WEB'), title },
      );
      return body.data?.issueCreate.issue ?? { key: '', revision: 0 };
    };
    const name = () => `Seen on a board ${(serial += 1)}`;
    const card = (page: Page, title: string) => page.getByRole('link', { name: title });
    const isLive = (page: Page) => page.getByRole('status').filter({ hasText: 'Live' }).waitFor();

    it('shows changes of others in two windows, and announces them to screen readers', async () => {
      const tabs = [await signedIn(), await signedIn()];
      for (const tab of tabs) await open(tab, '/board/WEB', 'Booking Web');
      for (const { page } of tabs) await isLive(page);
      const title = name();
      const { key } = await create(title);
      for (const { page } of tabs) {
        await page.getByRole('region', { name: 'Todo' }).getByRole('link', { name: title }).waitFor();
        await page
          .locator('[aria-live]')
          .filter({ hasText: `${key} ${title}: Todo` })
          .waitFor();
      }
      const done = await app.graphql<{ team: { statuses: { id: string; name: string }[] } }>(
        '{ team(code: "WEB") { statuses { id name } } }',
      );
      const statusId = done.body.data?.team.statuses.find(({ name }) => name === 'In Review')?.id;
      await app.graphql(
        'mutation ($key: String!, $statusId: ID!) { issueUpdate(input: { key: $key, statusId: $statusId }) { issue { key } } }',
        { key, statusId },
      );
      for (const { page } of tabs) {
        await page.getByRole('region', { name: 'In Review' }).getByRole('link', { name: title }).waitFor();
        expect(await card(page, title).count()).toBe(1);
      }
      expect(tabs.map(({ complaints }) => complaints)).toEqual([[], []]);
      await close(...tabs);
    }, 180_000);

    it('misses no change while it is offline or hidden, and closes its stream in the meantime', async () => {
      const tab = await signedIn();
      await open(tab, '/board/WEB', 'Booking Web');
      await isLive(tab.page);
      for (const [away, back] of [
        [() => tab.page.context().setOffline(true), () => tab.page.context().setOffline(false)],
        [() => setHidden(tab.page, true), () => setHidden(tab.page, false)],
      ] as const) {
        const closed = tab.page.waitForEvent('requestfailed', (request) => isStream(request.headers()));
        await away();
        await closed;
        const title = name();
        await create(title);
        const resumed = tab.page.waitForRequest((request) => isStream(request.headers()));
        await back();
        await card(tab.page, title).waitFor();
        expect((await resumed).headers()['last-event-id']).toMatch(/^c1-/);
        await isLive(tab.page);
      }
      await close(tab);
    }, 180_000);

    it('reads everything again if changes after its cursor were removed from the log', async () => {
      const tab = await signedIn();
      await open(tab, '/board/WEB', 'Booking Web');
      await isLive(tab.page);
      await setHidden(tab.page, true);
      await inProcess(app, 'changes reset', ['--json']);
      const title = name();
      await create(title);
      await setHidden(tab.page, false);
      await card(tab.page, title).waitFor();
      await isLive(tab.page);
      await close(tab);
    }, 180_000);

    it('keeps its filter in the address, and shows only issues that match', async () => {
      const tab = await signedIn();
      await open(tab, '/board/WEB?priority=HIGH&q=checkout', 'Booking Web');
      await isLive(tab.page);
      expect(await tab.page.getByLabel('Priority').inputValue()).toBe('HIGH');
      const keys = await tab.page.locator('.card').count();
      const passing = await app.graphql<{ issues: { totalCount: number } }>(
        `{ issues(filter: { team: { code: { eq: "WEB" } }, priority: { eq: HIGH }, title: { contains: "checkout" },
           status: { category: { nin: [CANCELED] } } }) { totalCount } }`,
      );
      expect(keys).toBe(passing.body.data?.issues.totalCount);
      await tab.page.getByLabel('Priority').selectOption('');
      await tab.page.getByLabel('Title').fill('Seen on');
      await card(tab.page, 'Seen on').first().waitFor();
      expect(new URL(tab.page.url()).search).toBe('?q=Seen+on');
      await tab.page.getByRole('button', { name: 'Clear' }).click();
      await card(tab.page, 'Checkout on one page').waitFor();
      expect(new URL(tab.page.url()).search).toBe('');
      await close(tab);
    }, 180_000);

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
    }, 120_000);
  });
});

/** Takes the screenshot for README and docs, in the colour scheme of the page. */
async function takePicture(page: Page, { colorScheme, viewport }: (typeof looks)[number]['options']) {
  if (viewport.width < 1_000) return;
  await page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
  const path = join(import.meta.dirname, `../../docs/pictures/dashboard-${colorScheme}.png`);
  await page.screenshot({ path, animations: 'disabled' });
}

interface Costed {
  extensions: { cost: { actual: number; requested: number } };
}

async function textOf(saved: Download): Promise<string> {
  return readFile(await saved.path(), 'utf8');
}

function isStream(headers: Record<string, string>): boolean {
  return headers['accept'] === 'text/event-stream';
}

function focused(page: Page): Promise<string> {
  return page.evaluate('document.activeElement.textContent.trim()');
}
