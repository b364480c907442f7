import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { startApp } from '../support/app.ts';
import { type SharedApp, sharedApp } from '../support/shared-app.ts';
import { describeInBrowser, openBrowser, overflowOf } from './browser.ts';
import {
  colorRules,
  flawsOf,
  hiddenFocusesOf,
  type Look,
  looks,
  noFlaws,
  openTab,
  printFlawsOf,
  type Tab,
} from './walk.ts';

/** The directory for pictures of the pages, if they are to be taken. */
const pictures = process.env['PICTURES'];

/** The pages that read the graph, with their headings. */
const views = [
  ['/dashboard', 'Dashboard'],
  ['/board', 'Boards'],
  ['/board/web', 'Booking Web'],
  ['/issues/plt-50', 'Flaky test: inventory holds are released twice'],
  ['/projects/checkout', 'One-Page Checkout'],
] as const;

/** The pages that are the same for all users, with their headings. */
const plainPages = [
  ['/', 'One graph of work, two ways to ask.'],
  ['/schema', 'Schema'],
  ['/schema/Issue', 'Issue'],
] as const;

describeInBrowser('the pages in a real browser (needs /usr/bin/chromium)', () => {
  let app: SharedApp;
  let browser: Browser;

  beforeAll(async () => {
    app = await sharedApp();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });

  const open = async (path: string, heading: string | RegExp, { url, token } = app): Promise<Tab> => {
    const tab = await openTab(browser, url, { token });
    await tab.page.goto(url + path);
    await tab.page.getByRole('heading', { level: 1, name: heading }).waitFor();
    return tab;
  };

  /** Checks a page at two sizes and in both color schemes. */
  const expectNoFlaws = async (tab: Tab, path: string): Promise<void> => {
    const found: Record<string, object> = {};
    const hidden: string[] = [];
    for (const look of looks) {
      await tab.look(look);
      expect({ look: look.name, overflow: await overflowOf(tab.page) }).toMatchObject({ overflow: 0 });
      const opened = tab.page.locator('.query-panel details[open] summary');
      if (pictures) {
        for (const summary of await opened.all()) await summary.click();
        await takePicture(tab.page, path, look);
      }
      // The panel is opened, so that its content is checked as well.
      const folded = tab.page.locator('.query-panel details:not([open]) summary');
      for (const summary of await folded.all()) await summary.click();
      // Another color scheme changes only colors.
      found[look.name] = await flawsOf(tab, look.colorScheme === 'dark' ? colorRules : undefined);
      if (look.colorScheme === 'light') hidden.push(...(await hiddenFocusesOf(tab.page)));
    }
    expect(hidden).toEqual([]);
    expect(await printFlawsOf(tab.page)).toEqual([]);
    expect(found).toEqual(Object.fromEntries(looks.map(({ name }) => [name, noFlaws])));
  };
  /** Checks a page at the narrowest width at which WCAG 2.2 requires it to reflow (1.4.10). */
  const expectToFitNarrowScreens = async (tab: Tab): Promise<void> => {
    const { page } = tab;
    await tab.look({ name: '320 px', colorScheme: 'light', width: 320, height: 640, mobile: true });
    expect(await overflowOf(page)).toBe(0);
    const links = await page.locator('.bar nav a').all();
    expect(links.length).toBeGreaterThan(3);
    for (const control of [...links, ...(await page.locator('.filters :is(select, input)').all())]) {
      const box = await control.boundingBox();
      expect(box && box.x + box.width).toBeLessThanOrEqual(320);
    }
  };
  /** Checks how many compressed bytes the page and everything that it loads have. */
  const expectSmall = (tab: Tab): void => {
    expect(tab.bytes()).toBeGreaterThan(5_000);
    expect(tab.bytes()).toBeLessThan(150_000);
  };

  it.each(plainPages)(
    '%s loads at most 150 KB, has no finding of axe, fits the window, and sends no request to another host',
    async (path, heading) => {
      const tab = await open(path, heading);
      expectSmall(tab);
      await expectNoFlaws(tab, path);
      await expectToFitNarrowScreens(tab);
      await tab.page.context().close();
    },
  );

  it.each(views)(
    '%s also shows what its query cost, and links to GraphiQL with the query',
    async (path, heading) => {
      const tab = await openTab(browser, app.url, { token: app.token });
      const answered = tab.page.waitForResponse((response) => response.url().endsWith('/graphql'));
      await tab.page.goto(app.url + path);
      await tab.page.getByRole('heading', { level: 1, name: heading }).waitFor();
      const cost = ((await (await answered).json()) as Costed).extensions.cost;
      expectSmall(tab);
      const panel = tab.page.getByRole('complementary', { name: 'The query behind this page' });
      expect(await panel.locator('summary').innerText()).toMatch(
        new RegExp(
          `cost ${cost.actual} of ${cost.requested.toLocaleString('en')}\\s+\\d+ statements\\s+\\d+ ms`,
        ),
      );
      await expectNoFlaws(tab, path);
      await expectToFitNarrowScreens(tab);
      const link = await panel.getByRole('link', { name: 'Open in GraphiQL' }).getAttribute('href');
      const { searchParams } = new URL(link ?? '', app.url);
      const variables = JSON.parse(searchParams.get('variables') ?? '') as Record<string, unknown>;
      const again = await app.graphql(searchParams.get('query') ?? '', variables);
      expect(again.body.errors).toBeUndefined();
      await tab.page.context().close();
    },
  );

  it.each(['/dashboard', '/board', '/issues/plt-50'])(
    '%s fits names that are longer than a line',
    async (path) => {
      const { page } = await openTab(browser, app.url, {
        token: app.token,
        viewport: { width: 390, height: 844 },
      });
      await page.route('**/graphql', async (route) => {
        if (route.request().headers()['accept'] === 'text/event-stream') return route.continue();
        const answer = JSON.parse(await (await route.fetch()).text(), (key, value: unknown) =>
          key === 'name' || key === 'displayName' ? `${String(value)} ${'x'.repeat(100)}` : value,
        ) as object;
        await route.fulfill({ json: answer });
      });
      await page.goto(app.url + path);
      await page.getByText('x'.repeat(100)).first().waitFor();
      expect(await overflowOf(page)).toBe(0);
      await page.context().close();
    },
  );

  it('an address with a long key fits narrow screens', async () => {
    const tab = await open(
      '/issues/ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZ-1',
      /There is no issue/,
    );
    await expectToFitNarrowScreens(tab);
    await tab.page.context().close();
  });

  it('the pages work on a server that accepts only trusted documents', async () => {
    const manifest = join(import.meta.dirname, '../../docs/trusted-documents.json');
    const settings = { DOCUMENTS: 'trusted', DOCUMENTS_FILE: manifest };
    const trusting = await startApp({ demo: true, settings });
    for (const [path, heading] of views) {
      const tab = await open(path, heading, trusting);
      await tab.page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
      expect(tab.complaints).toEqual([]);
      await tab.page.context().close();
    }
    const { body } = await trusting.graphql('{ teams { totalCount } }');
    expect(body.errors?.[0]?.message).toContain('accepts only the documents of its manifest');
    await trusting.stop();
  });
});

/** Takes the pictures that README and docs show, and those for people who review the pages. */
async function takePicture(page: Page, path: string, { name, colorScheme, mobile }: Look): Promise<void> {
  const isShown = path === '/dashboard' && !mobile;
  const docs = join(import.meta.dirname, '../../docs/pictures');
  const file = isShown
    ? join(docs, `dashboard-${colorScheme}.png`)
    : join(pictures ?? '', `${path.slice(1).replaceAll('/', '-') || 'home'} ${name}.png`);
  await page.screenshot({ path: file, animations: 'disabled', fullPage: !isShown });
}

interface Costed {
  extensions: { cost: { actual: number; requested: number } };
}
