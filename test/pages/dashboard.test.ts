import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import type { Download, Page } from 'playwright-core';
import { inProcess } from '../cli/workgraph.ts';
import { describeInBrowser } from './browser.ts';
import { busy, usePages } from './use-pages.ts';

describeInBrowser('the dashboard in a real browser (needs /usr/bin/chromium)', () => {
  const pages = usePages();
  const { signedIn, open, close, create } = pages;

  const day = (back: number) => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
  const stored = async (team: string | null, days: number) => {
    const { body } = await pages.app.graphql<{
      issueTrend: { periods: Record<'created' | 'closed', number>[] };
    }>(
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

  it('labels the axis of large counts, and the days on which its weeks begin', async () => {
    const tab = await signedIn();
    await open(tab, '/dashboard', 'Dashboard');
    const labels = await tab.page.evaluate<string[]>(`(async () => {
      const drawn = [];
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
        drawn.push(text);
        return fillText.call(this, text, ...at);
      };
      await import('/assets/app/plot.js');
      const plot = document.createElement('day-plot');
      const series = [{ label: 'Closed', color: '--c1', values: ${JSON.stringify(mondays.map(() => 240_000))} }];
      plot.chart = { label: 'Counts', kind: 'bars', days: ${JSON.stringify(mondays)}, series };
      document.querySelector('main').append(plot);
      while (!drawn.includes('100,000')) await new Promise((next) => requestAnimationFrame(next));
      return [...drawn, plot.querySelector('.legend b').textContent];
    })()`);
    expect(labels).toEqual(expect.arrayContaining(['100,000', '200,000', '240,000']));
    // A date of last year includes the year.
    const days = labels.filter((label) => /[a-z]/.test(label)).map((day) => day.replace(/ \d{4}$/, ''));
    expect(days.length).toBeGreaterThan(3);
    expect(mondays.map(shortDate)).toEqual(expect.arrayContaining(days));
    await tab.page.context().close();
  });

  it('shows the team and the range in its address, and follows changes', async () => {
    const tab = await signedIn({ timezoneId: 'UTC' });
    await open(tab, '/dashboard?team=PAY&range=30', 'Payments');
    await tab.page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
    const before = await stored('PAY', 30);
    expect(await tile(tab.page, 'Closed').innerText()).toBe(String(before.closed));
    expect(await tile(tab.page, 'Created').innerText()).toBe(String(before.created));
    await create('PAY', { title: 'Counted on the dashboard' });
    await tile(tab.page, 'Created')
      .filter({ hasText: new RegExp(`^${before.created + 1}$`) })
      .waitFor();
    await tab.page.getByLabel('Team').selectOption('');
    await tab.page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
    await tab.page.getByRole('radio', { name: '1 year' }).check();
    await tab.page.getByText('each month').first().waitFor();
    expect(new URL(tab.page.url()).search).toBe('?range=365');
    await close(tab);
  });

  it('dates the counts of the cumulative flow by the ends of periods, as its table does', async () => {
    const tab = await signedIn({ timezoneId: 'UTC' });
    await open(tab, '/dashboard?team=PAY&range=365', 'Payments');
    const flow = tab.page.getByRole('region', { name: 'Cumulative flow', exact: true });
    await flow.getByText('As a table').click();
    const until = await flow.getByRole('row').last().getByRole('rowheader').innerText();
    const shown = await flow.locator('day-plot li').last().innerText();
    expect(shown.match(/\d+/)?.[0]).toBe(String(Number(until.slice(-2))));
    await close(tab);
  });

  it('continues to follow changes when its first read after a reset fails', async () => {
    const tab = await signedIn({ timezoneId: 'UTC' });
    const isLive = () => tab.page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
    await open(tab, '/dashboard?team=PAY&range=30', 'Payments');
    await isLive();
    await tab.page.context().setOffline(true);
    await tab.page.getByRole('status').filter({ hasText: 'Reconnecting' }).waitFor();
    await inProcess(pages.app, 'changes reset', ['--json']);
    let isBroken = true;
    await tab.page.route('**/graphql', async (route) => {
      const isStream = route.request().headers()['accept'] === 'text/event-stream';
      if (isStream || !isBroken) return route.continue();
      isBroken = false;
      return route.abort();
    });
    await tab.page.context().setOffline(false);
    await isLive();
    expect(isBroken).toBe(false);
    const before = await stored('PAY', 30);
    await create('PAY', { title: 'Counted after a reset' });
    await tile(tab.page, 'Created')
      .filter({ hasText: new RegExp(`^${before.created + 1}$`) })
      .waitFor();
    await close(tab);
  });

  it('saves the numbers of a chart, which the graph confirms, as CSV', async () => {
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
  });

  it('names the range of its numbers, even while another range cannot be read', async () => {
    const tab = await signedIn({ timezoneId: 'UTC' });
    await open(tab, '/dashboard', 'Dashboard');
    const isLive = () => tab.page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
    await isLive();
    const closed = tab.page.locator('.tiles > div').filter({ hasText: 'Closed' }).first();
    /** The first day that the tables of the charts have. */
    const since = async () => {
      const first = tab.page.locator('[aria-label="Created against closed"] tbody th');
      return (await first.first().textContent()) ?? '';
    };
    const [first, text] = [await since(), await closed.innerText()];
    const days = Math.round((Date.parse(day(0)) - Date.parse(first)) / 86_400_000) + 1;
    // Whole weeks are counted, so the first day may be before the range that was chosen.
    expect(days).toBeGreaterThanOrEqual(90);
    expect(await tile(tab.page, 'Closed').innerText()).toBe(String((await stored(null, days)).closed));
    expect(text).toContain(`since ${shortDate(first)}`);
    const restore = await pages.intercept(tab, busy);
    await tab.page.getByRole('radio', { name: '30 days' }).check();
    await tab.page.getByText('Not up to date: Too much is going on.').waitFor();
    expect(await closed.innerText()).toBe(text);
    await restore();
    await isLive();
    expect(await since()).toBe(day(29));
    expect(await tile(tab.page, 'Closed').innerText()).toBe(String((await stored(null, 30)).closed));
    await close(tab);
  });

  it('says that there is no such team', async () => {
    const tab = await signedIn();
    await open(tab, '/dashboard?team=nope', 'There is no team NOPE');
    expect(await tab.page.locator('.tiles').count()).toBe(0);
    await close(tab);
  });

  it('says how to add teams to a workspace without any, as the boards do', async () => {
    const tab = await signedIn();
    await pages.intercept(tab, async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as { data: object };
      const none = { nodes: [], pageInfo: { hasNextPage: false } };
      const data = { ...answer.data, all: none, teams: none, now: [] };
      await route.fulfill({ response, json: { ...answer, data } });
    });
    for (const [path, heading] of [
      ['/dashboard', 'Dashboard'],
      ['/board', 'Boards'],
    ] as const) {
      await open(tab, path, heading);
      await tab.page
        .getByText('There are no active teams yet. npx workgraph directory apply FILE adds')
        .waitFor();
      expect(await tab.page.locator('.tiles').count()).toBe(0);
    }
    await close(tab);
  });

  it('tells teams and members of the same name apart, even in high contrast, and says where it does not show all', async () => {
    const tab = await signedIn();
    await pages.intercept(tab, async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as { data: Dashboard };
      const { byTeam, workload, teams } = answer.data;
      for (const { team } of byTeam.periods) team.name = 'Engineering';
      answer.data.workload = ['account_1', 'account_2', null].map((id) => ({
        assignee: id ? { userAccountId: id, displayName: 'Nobody' } : null,
        statusCategory: 'OPEN',
        count: 3,
      }));
      answer.data.workload.push(...Array.from({ length: 97 }, () => ({ ...workload[0], count: 0 }) as Group));
      teams.pageInfo.hasNextPage = true;
      await route.fulfill({ response, json: answer });
    });
    await open(tab, '/dashboard', 'Dashboard');
    const labels = await tab.page
      .getByRole('region', { name: 'Throughput', exact: true })
      .locator('.legend li')
      .allInnerTexts();
    expect(labels.filter((label) => /^Engineering \([A-Z]+\)/.test(label)).length).toBeGreaterThan(1);
    await tab.page.emulateMedia({ forcedColors: 'active' });
    const swatches = await tab.page.evaluate<string[]>(
      "[...document.querySelector('.legend').querySelectorAll('i')].map((each) => getComputedStyle(each).backgroundColor)",
    );
    expect(new Set(swatches).size).toBe(labels.length - 1);
    const members = tab.page.getByRole('region', { name: 'Workload' });
    expect(await members.getByRole('rowheader').filter({ hasText: 'Nobody' }).count()).toBe(3);
    await members.getByText('There may be more members').waitFor();
    await tab.page.getByText('Those of the first').waitFor();
    await close(tab);
  });

  it('names the days of a chart by the calendar of its reader', async () => {
    // Its days begin fourteen hours before those of UTC.
    const tab = await signedIn({ timezoneId: 'Pacific/Kiritimati' });
    await tab.page.addInitScript(`
      const { fillText } = CanvasRenderingContext2D.prototype;
      window.drawn = [];
      CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
        drawn.push(text);
        return fillText.call(this, text, ...at);
      };`);
    await open(tab, '/dashboard?range=30', 'Dashboard');
    const first = await tab.page.locator('.as-table tbody th').first().textContent();
    expect(await tab.page.evaluate('window.drawn[0]')).toBe(shortDate(first ?? ''));
    await close(tab);
  });
});

/** The last fifteen Mondays, as dates. */
const mondays = Array.from({ length: 15 }, (_, week) => {
  const sinceMonday = (new Date().getUTCDay() + 6) % 7;
  return new Date(Date.now() - (sinceMonday + 7 * (14 - week)) * 86_400_000).toISOString().slice(0, 10);
});

/** `24 Nov` */
function shortDate(day: string): string {
  return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(
    new Date(day),
  );
}

interface Group {
  assignee: { userAccountId: string; displayName: string } | null;
  statusCategory: string;
  count: number;
}

/** The fields of an answer that a test changes. */
interface Dashboard {
  byTeam: { periods: { team: { name: string } }[] };
  workload: Group[];
  teams: { pageInfo: { hasNextPage: boolean } };
}

async function textOf(saved: Download): Promise<string> {
  return readFile(await saved.path(), 'utf8');
}
