import { afterAll, beforeAll } from '@jest/globals';
import type { Browser, Route } from 'playwright-core';
import { type App, startApp } from '../support/app.ts';
import { openBrowser } from './browser.ts';
import { openTabStrip, type TabStrip } from './tab-strip.ts';
import { openTab, type Tab } from './walk.ts';

/** A server with the demo that belongs to one suite, and tabs that look at it. */
export interface Pages {
  readonly app: App;
  /** Opens a tab without a token. */
  visitor: () => Promise<Tab>;
  /** Opens a tab that is signed in. */
  signedIn: (options?: Parameters<typeof openTab>[2]) => Promise<Tab>;
  /** Opens a window without tabs. */
  tabStrip: () => Promise<TabStrip>;
  /** Goes to a page, and waits for its heading. */
  open: (tab: Tab, path: string, heading: string) => Promise<void>;
  close: (...tabs: Tab[]) => Promise<void>;
  /** Creates an issue and returns its key. */
  create: (
    team: string,
    issue: { title: string; description?: string; parentIssueId?: string },
  ) => Promise<string>;
  /** Changes an issue. */
  update: (key: string, changes: { title?: string; status?: string }) => Promise<void>;
  /** Lets `answer` answer the queries of the tab, but not its streams. Returns a function that ends this. */
  intercept: (tab: Tab, answer: (route: Route) => Promise<void>) => Promise<() => Promise<void>>;
}

/** Starts a server and a browser before the first test of a suite, and stops them after the last. */
export function usePages(): Pages {
  let app: App;
  let browser: Browser;
  beforeAll(async () => {
    [app, browser] = await Promise.all([startApp({ demo: true }), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });
  const teamIdOf = async (code: string) => {
    const query = 'query ($code: String!) { team(code: $code) { id } }';
    const { body } = await app.graphql<{ team: { id: string } }>(query, { code });
    return body.data?.team.id ?? '';
  };
  return {
    get app() {
      return app;
    },
    visitor: () => openTab(browser, app.url),
    signedIn: (options = {}) => openTab(browser, app.url, { token: app.token, ...options }),
    tabStrip: () => openTabStrip(browser),
    open: async ({ page }, path, heading) => {
      await page.goto(app.url + path);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    },
    close: async (...tabs) => {
      await Promise.all(tabs.map(({ page }) => page.context().close()));
    },
    create: async (team, issue) => {
      const { body } = await app.graphql<{ issueCreate: { issue: { key: string } } }>(
        'mutation ($input: IssueCreateInput!) { issueCreate(input: $input) { issue { key } } }',
        { input: { teamId: await teamIdOf(team), ...issue } },
      );
      return body.data?.issueCreate.issue.key ?? '';
    },
    update: async (key, { status, ...changes }) => {
      const { body } = await app.graphql<{ issue: { team: { statuses: { id: string; name: string }[] } } }>(
        'query ($key: String!) { issue(key: $key) { team { statuses { id name } } } }',
        { key },
      );
      const statusId = body.data?.issue.team.statuses.find(({ name }) => name === status)?.id;
      if (status && !statusId) throw new Error(`The team of ${key} has no status ${status}.`);
      await app.graphql(
        'mutation ($input: IssueUpdateInput!) { issueUpdate(input: $input) { issue { key } } }',
        { input: { key, ...changes, ...(statusId && { statusId }) } },
      );
    },
    intercept: async ({ page }, answer) => {
      const handle = (route: Route) =>
        route.request().headers()['accept'] === 'text/event-stream' ? route.continue() : answer(route);
      await page.route('**/graphql', handle);
      return () => page.unroute('**/graphql', handle);
    },
  };
}

/** Answers as a server that is too busy. */
export function busy(route: Route): Promise<void> {
  return route.fulfill({
    status: 503,
    contentType: 'application/problem+json',
    body: JSON.stringify({ code: 'unavailable', detail: 'Too much is going on.' }),
  });
}
