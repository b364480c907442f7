import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { openPage, overflowOf, type WatchedPage } from './browser.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A way in which people look at pages. */
export interface Look {
  readonly name: string;
  readonly colorScheme: 'light' | 'dark';
  readonly width: number;
  readonly height: number;
  /** Whether it is a phone, with touch and without a mouse. */
  readonly mobile: boolean;
}

/** Two sizes, in both colour schemes. */
export const looks: readonly Look[] = (['light', 'dark'] as const).flatMap((colorScheme) => [
  { name: `1440 px, ${colorScheme}`, colorScheme, width: 1440, height: 900, mobile: false },
  { name: `390 px, ${colorScheme}`, colorScheme, width: 390, height: 844, mobile: true },
]);

/** A tab that is signed in to a server, and counts the bytes that it receives. */
export interface Tab extends WatchedPage {
  /** Makes the screen and the colour scheme those of a look, without loading the page again. */
  look(look: Look): Promise<void>;
  /** The bytes of all answers that have ended, with their headers. */
  bytes(): number;
}

export async function openTab(
  browser: Browser,
  url: string,
  { token, ...options }: BrowserContextOptions & { token?: string } = {},
): Promise<Tab> {
  const watched = await openPage(browser, url, options);
  const { page } = watched;
  page.setDefaultTimeout(60_000);
  if (token) await page.addInitScript(`sessionStorage.setItem('workgraph.token', '${token}')`);
  let bytes = 0;
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  devtools.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  return {
    ...watched,
    bytes: () => bytes,
    async look({ colorScheme, width, height, mobile }) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height });
      await devtools.send('Emulation.setDeviceMetricsOverride', {
        width,
        height,
        mobile,
        deviceScaleFactor: 1,
      });
      await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: mobile });
      // Two frames: observers of sizes have run, and what they drew is there.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    },
  };
}

/** The rules of axe that look at colours, on which alone the colour scheme has an effect. */
export const colourRules = ['color-contrast', 'link-in-text-block'];

/** What axe finds on a page, each with the first element that it was found at; by all rules, or by some. */
export async function findingsOf(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe);
  // Colours that are still on their way from one scheme to the other have another contrast.
  await page.evaluate('Promise.allSettled(document.getAnimations().map(({ finished }) => finished))');
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: { type: 'rule', values: rules } }) };
  return page.evaluate<string[]>(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) =>
       violations.map(({ id, nodes }) => id + ' at ' + nodes[0].target.join(' ')))`,
  );
}

/** Everything about a page that must be empty or zero, whoever looks at it. Axe tries all rules, or some. */
export async function flawsOf(
  { page, complaints, foreign }: WatchedPage,
  rules?: readonly string[],
): Promise<object> {
  return { findings: await findingsOf(page, rules), overflow: await overflowOf(page), complaints, foreign };
}

export const noFlaws = { findings: [], overflow: 0, complaints: [], foreign: [] };
