import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import type { Download, Page } from 'playwright-core';
import { inProcess } from '../cli/workgraph.ts';
import { hasBrowser } from './browser.ts';
import { usePages } from './use-pages.ts';

// Without a browser the tests are reported as skipped, because `npm test` must not need one.
const described = hasBrowser ? describe : describe.skip;

described('the dashboard in a real browser (needs /usr/bin/chromium)', () => {
  const pages = usePages();
  const { signedIn, open, close, create } = pages;

  const stored = async (team: string | null, days: number) => {
    const day = (back: number) => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
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
  }, 120_000);

  it('goes on following when its first reading after a reset fails', async () => {
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
async function textOf(saved: Download): Promise<string> {
  return readFile(await saved.path(), 'utf8');
}
