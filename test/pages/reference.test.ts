import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import type { App } from '../support/app.ts';
import { colorRules, findingsOf, hiddenFocusesOf } from './walk.ts';
import { describeInBrowser, openBrowser, openPage, overflowOf, type WatchedPage } from './browser.ts';

const longTimeout = { timeout: 60_000 };
const phone = { viewport: { width: 375, height: 812 }, isMobile: true, hasTouch: true };

describeInBrowser('the start page and the reference in a real browser (needs /usr/bin/chromium)', () => {
  let app: App;
  let browser: Browser;
  let watched: WatchedPage;

  beforeAll(async () => {
    const { startApp } = await import('../support/app.ts');
    app = await startApp({ demo: true });
    browser = await openBrowser();
    watched = await openPage(browser, app.url);
    watched.page.setDefaultTimeout(longTimeout.timeout);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });

  it('lists every endpoint, and is linked from the start page, which says that the server is ready', async () => {
    const { page } = watched;
    await page.goto(`${app.url}/`);
    await page.getByText('This server is ready').waitFor();
    await page.getByRole('link', { name: 'Reference', exact: true }).click();
    await endpoint(page, 'issues', 'issueCreate').waitFor();
    expect(await page.locator('.opblock').count()).toBe(await countOperations(app));
  });

  it('sends a GET and a POST with the token that was entered', async () => {
    const { page } = watched;
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Available authorizations' });
    await dialog.locator('input').fill(app.token);
    await page.getByRole('button', { name: 'Apply credentials' }).click();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Sign out' }).waitFor();

    const teams = await send<{ results: { id: string }[] }>(page, endpoint(page, 'teams', 'teams'));
    expect(teams.status).toBe(200);
    const teamId = teams.body.results[0]?.id;
    const created = await send<{ key: string; title: string }>(
      page,
      endpoint(page, 'issues', 'issueCreate'),
      JSON.stringify({ teamId, title: 'From the reference', description: '', priority: 0 }),
    );
    expect(created).toMatchObject({ status: 201, body: { title: 'From the reference' } });
  });

  it('shows the operation of an endpoint and leads to GraphiQL with it', async () => {
    const { page } = watched;
    // Leaves the page first, because a change of the fragment alone would load nothing. The next test uses the page of this one,
    // because loading the reference takes long.
    await page.goto('about:blank');
    await page.goto(`${app.url}/v1/docs#/issues/issue`);
    const link = page.getByRole('link', { name: 'Open it in GraphiQL' }).first();
    await page.getByText('The GraphQL operation that it runs').first().click();
    const query = new URL((await link.getAttribute('href')) ?? '', app.url).searchParams.get('query');
    expect(query).toMatch(/^query \w+/);
  });

  it('puts what a reference names in its place, except inside of itself', async () => {
    const description = {
      tree: { properties: { children: { items: { $ref: '#/tree' } } } },
      'a/b': [{ $ref: '#/tree', description: 'An oak' }],
    };
    const followed = await watched.page.evaluate<object>(
      `withoutReferences({ $ref: '#/a~1b/0' }, ${JSON.stringify(description)})`,
    );
    expect(followed).toEqual({
      $$ref: '#/a~1b/0',
      description: 'An oak',
      properties: { children: { items: { $ref: '#/tree' } } },
    });
  });

  it('keeps the token when it is reloaded, and for no longer than the tab', async () => {
    const { page } = watched;
    const teams = await send(page, endpoint(page, 'teams', 'teams'));
    expect(teams.status).toBe(200);
    expect(await page.evaluate('Object.keys(localStorage)')).toEqual([]);
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove authorization' }).click();
    expect(await page.evaluate('Object.keys(sessionStorage)')).toEqual(['workgraph.signed-out']);
    expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
  });

  it('sends its requests to its own origin, even if PUBLIC_URL is another one', async () => {
    const { startApp } = await import('../support/app.ts');
    const proxied = await startApp({
      sharesDatabase: true,
      settings: { PUBLIC_URL: 'https://work.example.com' },
    });
    const { page, foreign, complaints } = await openPage(browser, proxied.url);
    page.setDefaultTimeout(longTimeout.timeout);
    await page.goto(`${proxied.url}/v1/docs`);
    const codes = endpoint(page, 'meta', 'codes');
    await codes.locator('.opblock-summary-control').click();
    await codes.getByRole('button', { name: 'Try it out' }).click();
    const answered = page.waitForResponse((response) => response.url().endsWith('/v1/meta/codes'));
    await codes.getByRole('button', { name: 'Execute' }).click();
    const answer = await answered;
    expect([answer.url(), answer.status()]).toEqual([`${proxied.url}/v1/meta/codes`, 200]);
    await codes.locator('.live-responses-table').waitFor();
    expect({ foreign, complaints }).toEqual({ foreign: [], complaints: [] });
    await page.context().close();
    await proxied.stop();
  });

  it('fit a phone in both color schemes', async () => {
    const { page, complaints, foreign } = await openPage(browser, app.url, phone);
    page.setDefaultTimeout(longTimeout.timeout);
    const schemes = ['light', 'dark'] as const;
    await page.goto(`${app.url}/`);
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme });
      expect(await overflowOf(page)).toBe(0);
      const paper = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
      const [red = 0] = (paper.match(/\d+/g) ?? []).map(Number);
      expect(red > 128).toBe(colorScheme === 'light');
    }
    await page.goto(`${app.url}/v1/docs`);
    const create = endpoint(page, 'issues', 'issueCreate');
    await create.locator('.opblock-summary-control').click();
    await create.locator('.responses-wrapper').waitFor();
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme });
      expect(await overflowOf(page)).toBe(0);
      // The image of the button is white, so it is inverted on a light background.
      expect(
        await page.evaluate<string>(
          "getComputedStyle(document.querySelector('.copy-to-clipboard button')).filter",
        ),
      ).toBe(colorScheme === 'light' ? 'invert(1)' : 'none');
      // Checked before axe runs, because axe requests stylesheets that the policy of this page forbids, which logs errors.
      if (colorScheme === 'light') expect({ complaints, foreign }).toEqual({ complaints: [], foreign: [] });
      expect(await findingsOf(page, colorScheme === 'dark' ? colorRules : undefined)).toEqual([]);
    }
    expect(await hiddenFocusesOf(page)).toEqual([]);
    expect(foreign).toEqual([]);
    await page.context().close();
  });

  it('sends no request to another host, and logs no error', () => {
    expect(watched.foreign).toEqual([]);
    expect(watched.complaints).toEqual([]);
  });
});

function endpoint(page: Page, tag: string, operationId: string): Locator {
  return page.locator(`#operations-${tag}-${operationId}`);
}

/** Opens an endpoint, fills in the body, sends the request as a user would, and returns the response. */
async function send<Body>(
  page: Page,
  endpoint: Locator,
  body?: string,
): Promise<{ status: number; body: Body }> {
  await endpoint.locator('.opblock-summary-control').click();
  await endpoint.getByRole('button', { name: 'Try it out' }).click();
  if (body !== undefined) await endpoint.locator('textarea.body-param__text').fill(body);
  const answered = page.waitForResponse(
    (response) => response.request().headers()['authorization'] !== undefined,
  );
  await endpoint.getByRole('button', { name: 'Execute' }).click();
  const response = await answered;
  await endpoint.locator('.live-responses-table').waitFor();
  return { status: response.status(), body: (await response.json()) as Body };
}

/** The operations of paths, and those of the webhooks that the service calls. */
async function countOperations(app: App): Promise<number> {
  const { body } = await app.request<Record<'paths' | 'webhooks', Record<string, object>>>(
    'GET',
    '/v1/openapi.json',
  );
  const items = [...Object.values(body.paths), ...Object.values(body.webhooks)];
  return items.reduce((sum, methods) => sum + Object.keys(methods).length, 0);
}
