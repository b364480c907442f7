import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Route } from 'playwright-core';
import { exampleOf } from '../live/page-code.ts';
import type { App } from '../support/app.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { findingsOf, hiddenFocusesOf, openTab } from './walk.ts';
import { describeInBrowser, openBrowser, openPage, overflowOf, type WatchedPage } from './browser.ts';

describeInBrowser('GraphiQL in a real browser (needs /usr/bin/chromium)', () => {
  let app: App;
  let browser: Browser;
  let watched: WatchedPage;

  beforeAll(async () => {
    const { startApp } = await import('../support/app.ts');
    app = await startApp({ demo: true, settings: { WEBHOOK_NETWORKS: '127.0.0.1' } });
    browser = await openBrowser();
    watched = await openPage(browser, app.url);
    await watched.page.goto(`${app.url}/graphql`);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });

  it('offers to sign in when the server refuses a query, and then answers it', async () => {
    const { page, complaints } = watched;
    const execute = page.locator('.graphiql-execute-button');
    await execute.click({ timeout: 60_000 });
    await page.getByRole('alert').getByText('This needs an access token').waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining('401')]);
    const field = page.getByRole('textbox', { name: 'Access token' });
    await field.fill('wg_é');
    await page.keyboard.press('Enter');
    await page.locator('#token:invalid').waitFor();
    expect(await page.evaluate('document.activeElement.validationMessage')).toContain('This is not a token');
    await field.fill(app.token);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(await field.isVisible()).toBe(false);
    // The focus is on the button that runs the query.
    await page.keyboard.press('Enter');
    await page.locator('.result-window').getByText('viewer').first().waitFor();
    await page.evaluate("sessionStorage.removeItem('workgraph.token')");
  });

  // It uses the page of the test before it, because loading GraphiQL takes long.
  it('answers the dashboard query that it opens with, once the token is pasted', async () => {
    const { page } = watched;
    const headers = page.locator('.graphiql-editor-tool .monaco-editor').last();
    await headers.waitFor({ timeout: 60_000 });
    await headers.click();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(JSON.stringify({ Authorization: `Bearer ${app.token}` }));
    // The editor has added closing brackets after the cursor.
    await page.keyboard.press('Control+Shift+End');
    await page.keyboard.press('Delete');
    const answered = page.waitForResponse(
      (response) => response.request().postData()?.includes('query Dashboard') ?? false,
    );
    await page.locator('.graphiql-execute-button').click();
    const response = await answered;
    expect(response.status()).toBe(200);
    await page.locator('.result-window').getByText('viewer').first().waitFor();
  });

  it('lets a page read a subscription with the function of docs/live.md', async () => {
    const code = exampleOf('events');
    const { body } = await app.graphql<{ workspace: { changeCursor: string } }>(
      '{ workspace { changeCursor } }',
    );
    const constants = [app.token, body.data?.workspace.changeCursor].map((value) => JSON.stringify(value));
    const event = watched.page.evaluate<{ id: string; data: unknown }>(
      `(async () => {
        ${code}
        const [token, cursor] = [${constants.join(', ')}];
        const stream = events(location.origin, token, 'subscription { changes { issue { key } } }', {}, cursor);
        const { value } = await stream.next();
        await stream.return();
        return value;
      })()`,
    );
    await app.graphql(
      'mutation { commentCreate(input: { issueKey: "WEB-3", body: "Heard by a page." }) { comment { id } } }',
    );
    const { id, data } = await event;
    expect(id).toMatch(/^c1-/);
    expect(data).toEqual({ changes: { issue: { key: 'WEB-3' } } });
  });

  it('lets a page add a webhook with the function of docs/webhooks.md', async () => {
    const receiver = await startReceiver();
    const args = [app.token, receiver.url].map((each) => JSON.stringify(each));
    const added = await watched.page.evaluate(
      `(async () => {
        ${exampleOf('addWebhook', 'webhooks.md')}
        return addWebhook(location.origin, ${args.join(', ')});
      })()`,
    );
    receiver.close();
    expect(added).toMatchObject({ secret: expect.stringMatching(/^whsec_/), isReceived: true });
  });

  it('has a title, and fits a phone', async () => {
    const phone = await openPage(browser, app.url, { viewport: { width: 375, height: 812 }, isMobile: true });
    await phone.page.goto(`${app.url}/graphql`);
    await phone.page.locator('.graphiql-execute-button').waitFor({ timeout: 60_000 });
    expect(await phone.page.title()).toBe('workgraph – GraphiQL');
    expect(await phone.page.evaluate('window.innerWidth')).toBe(375);
    expect(await overflowOf(phone.page)).toBe(0);
    // The editor and the result are stacked, and each uses the whole width.
    for (const pane of ['.graphiql-query-editor', '.result-window'])
      expect((await phone.page.locator(pane).first().boundingBox())?.width).toBeGreaterThan(200);
    await phone.page.context().close();
  });

  it('is as high as its window, however long the query is', async () => {
    const { page } = await openPage(browser, app.url);
    const query = `{ workspace {${'\n  name'.repeat(60)}\n} }`;
    await page.goto(`${app.url}/graphql?${new URLSearchParams({ query })}`);
    await page.locator('.graphiql-query-editor .margin').first().waitFor({ timeout: 60_000 });
    expect(
      await page.evaluate('document.documentElement.scrollHeight - window.innerHeight'),
    ).toBeLessThanOrEqual(0);
    await page.context().close();
  });

  it('uses the token of the tab, takes a query and variables from a link, and remembers queries in a history', async () => {
    const tab = await openTab(browser, app.url, { token: app.token });
    const { page } = tab;
    const query =
      '# With a comment\nquery Titles($n: Int!) {\n  issues(first: $n) {\n    nodes {\n      key\n    }\n  }\n}';
    const search = new URLSearchParams({ query, variables: '{ "n": 2 }' });
    await page.goto(`${app.url}/graphql?${search}`);
    const answered = page.waitForResponse(
      (response) => response.request().postData()?.includes('query Titles') ?? false,
    );
    await page.locator('.graphiql-execute-button').click();
    const { data } = (await (await answered).json()) as { data: { issues: { nodes: unknown[] } } };
    expect(data.issues.nodes).toHaveLength(2);
    // Both findings come from GraphiQL itself: from its tabs, and from the colors of its editor.
    const ofGraphiql = /^(nested-interactive|color-contrast at \.view-line)/;
    expect((await findingsOf(page)).filter((finding) => !ofGraphiql.test(finding))).toEqual([]);
    // A tooltip of one button may cover the next for a moment.
    expect((await hiddenFocusesOf(page)).filter((fault) => !fault.startsWith('covered'))).toEqual([]);
    await page.getByText('History').click();
    const entry = page.locator('.history').getByRole('link', { name: 'Titles' });
    const { searchParams } = new URL((await entry.getAttribute('href')) ?? '', app.url);
    expect(searchParams.get('query')).toBe(query);
    expect(JSON.parse(searchParams.get('variables') ?? '')).toEqual({ n: 2 });
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'workgraph' }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.evaluate('sessionStorage.getItem("workgraph.history")')).toBeNull();
    expect([tab.foreign, tab.complaints]).toEqual([[], []]);
    await page.context().close();
  });

  it('sends a query that its history has no room for', async () => {
    const { page } = await openTab(browser, app.url, { token: app.token });
    const query = 'query Roomless { viewer { member { displayName } } }';
    await page.goto(`${app.url}/graphql?${new URLSearchParams({ query })}`);
    await page.locator('.graphiql-execute-button').waitFor();
    // Each text has a key of its own, because a text that grows would be copied again and again.
    await page.evaluate(`for (let size = 2 ** 20, keys = 0; size >= 1; ) {
      try { sessionStorage.setItem('full ' + keys++, 'x'.repeat(size)); } catch { size >>= 1; }
    }`);
    const answered = page.waitForResponse(
      (response) => response.request().postData()?.includes('query Roomless') ?? false,
    );
    await page.locator('.graphiql-execute-button').click();
    expect((await answered).status()).toBe(200);
    await page.context().close();
  });

  it('says what to do when the server does not answer, refuses a query, or cannot be reached through a proxy', async () => {
    const { page } = await openTab(browser, app.url, { token: app.token });
    await page.goto(
      `${app.url}/graphql?${new URLSearchParams({ query: '{ viewer { member { displayName } } }' })}`,
    );
    const result = page.locator('.result-window');
    const execute = page.locator('.graphiql-execute-button');
    await execute.waitFor();
    const problem = { status: 429, code: 'rate_limited', detail: 'The quota is used up.', requestId: 'r-1' };
    const refusals: [answer: (route: Route) => Promise<void>, advice: RegExp][] = [
      [
        (route) => route.abort(),
        /does not answer\. Either it is not running, .* not connected\. Run the query again/,
      ],
      [
        (route) => route.fulfill({ status: 429, headers: { 'Retry-After': '7' }, json: problem }),
        /The quota is used up\. Run the query again in 7 s\./,
      ],
      [
        (route) => route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' }),
        /other than workgraph has answered, with status 502\. Run the query again in a moment\./,
      ],
    ];
    for (const [answer, advice] of refusals) {
      await page.route('**/graphql', answer);
      const body = await page.evaluate<{ errors: { message: string }[] }>(
        "fetch('/graphql', { method: 'POST', body: '{}' }).then((response) => response.json())",
      );
      expect(body.errors[0]?.message).toMatch(advice);
      await execute.click();
      // The editor may break the line after that.
      await result.getByText(body.errors[0]?.message.slice(0, 25) ?? '').waitFor();
      await page.unroute('**/graphql', answer);
    }
    await execute.click();
    await result.getByText('displayName').first().waitFor();
    await page.context().close();
  });

  // The query is passed in the address, because the editor would add brackets to typed text.
  it('offers to sign in when the server refuses a subscription', async () => {
    const { page } = await openTab(browser, app.url, {});
    const query = 'subscription { issues(filter: {}) { kind } }';
    await page.goto(`${app.url}/graphql?${new URLSearchParams({ query })}`);
    await page.locator('.graphiql-execute-button').click();
    await page.getByRole('alert').getByText('This needs an access token').waitFor();
    await page.locator('.result-window').getByText('UNAUTHENTICATED').waitFor();
    expect(await page.getByRole('textbox', { name: 'Access token' }).isVisible()).toBe(true);
    await page.context().close();
  });

  it('shows the events of a subscription while it runs, and remembers it in the history', async () => {
    const { page } = await openTab(browser, app.url, { token: app.token });
    const query =
      'subscription Keys($type: String!) { changes(filter: { eventType: { startsWith: $type } }) { issue { key } } }';
    const variables = '{ "type": "issue" }';
    await page.goto(`${app.url}/graphql?${new URLSearchParams({ query, variables })}`);
    const started = page.waitForResponse(
      (response) => response.headers()['content-type']?.startsWith('text/event-stream') ?? false,
    );
    await page.locator('.graphiql-execute-button').click();
    expect((await started).status()).toBe(200);
    for (const key of ['WEB-1', 'WEB-2']) {
      await app.graphql(
        'mutation ($input: CommentCreateInput!) { commentCreate(input: $input) { comment { id } } }',
        { input: { issueKey: key, body: 'Seen in a browser.' } },
      );
      await page.locator('.result-window').getByText(key).first().waitFor();
    }
    // The same button stops it.
    await page.locator('.graphiql-execute-button').click();
    await page.getByText('History').click();
    const entry = page.locator('.history').getByRole('link', { name: 'Keys' });
    const { searchParams } = new URL((await entry.getAttribute('href')) ?? '', app.url);
    expect(JSON.parse(searchParams.get('variables') ?? '')).toEqual({ type: 'issue' });
    await page.context().close();
  });

  it('sends no request to another host, and logs no error', () => {
    expect(watched.foreign).toEqual([]);
    expect(watched.complaints).toEqual([]);
  });
});
