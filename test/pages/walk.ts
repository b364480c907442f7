import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { openPage, overflowOf, type WatchedPage } from './browser.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A screen and a color scheme with which people look at pages. */
export interface Look {
  readonly name: string;
  readonly colorScheme: 'light' | 'dark';
  readonly width: number;
  readonly height: number;
  /** Whether it is a phone, with touch and without a mouse. */
  readonly mobile: boolean;
}

/** Two sizes, in both color schemes. */
export const looks: readonly Look[] = (['light', 'dark'] as const).flatMap((colorScheme) => [
  { name: `1440 px, ${colorScheme}`, colorScheme, width: 1440, height: 900, mobile: false },
  { name: `390 px, ${colorScheme}`, colorScheme, width: 390, height: 844, mobile: true },
]);

/** A tab that is signed in to a server, and counts the bytes that it receives. */
export interface Tab extends WatchedPage {
  /** Makes the screen and the color scheme those of a look, without loading the page again. */
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
      // After two frames, resize observers have run and what they have drawn is visible.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    },
  };
}

/** The rules of axe about colors, which are the only ones that the color scheme affects. */
export const colorRules = ['color-contrast', 'link-in-text-block'];

/** What axe finds on a page, each with the first element that it was found at; by all rules, or by some. */
export async function findingsOf(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe);
  // Waits until animated colors have their final values, because axe measures their contrast.
  await page.evaluate('Promise.allSettled(document.getAnimations().map(({ finished }) => finished))');
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: { type: 'rule', values: rules } }) };
  return page.evaluate<string[]>(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) =>
       violations.map(({ id, nodes }) => id + ' at ' + nodes[0].target.join(' ')))`,
  );
}

/** The elements of a page that the keyboard can focus although the focus cannot be seen: it has no outline, is cut off, or is covered. */
export async function hiddenFocusesOf(page: Page): Promise<string[]> {
  // After a key press, the browser shows every focus, including one that a script sets.
  await page.keyboard.press('Tab');
  return page.evaluate<string[]>(`(() => {
    // An element that is longer than its scroll container can be seen if its sides and one of its ends are in view.
    const isIn = (inner, outer, by) => {
      const [left, top, right, bottom] = [
        inner.left - by - outer.left, inner.top - by - outer.top, outer.right - inner.right - by, outer.bottom - inner.bottom - by,
      ].map((room) => room > -1);
      return left && right && (top || bottom);
    };
    const faultOf = (element) => {
      element.focus();
      const marked = [element, element.nextElementSibling].find(
        (each) => each && getComputedStyle(each).outlineStyle !== 'none' && each.matches(':focus-visible, :focus-visible + *'),
      );
      if (!marked) return 'no outline';
      const { outlineWidth, outlineOffset } = getComputedStyle(marked);
      const box = marked.getBoundingClientRect();
      const by = parseFloat(outlineWidth) + parseFloat(outlineOffset);
      for (let each = marked.parentElement; each && each !== document.body; each = each.parentElement)
        if (getComputedStyle(each).overflow !== 'visible' && !isIn(box, each.getBoundingClientRect(), by)) return 'cut off';
      const above = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
      return above && !above.contains(element) && !marked.contains(above) ? 'covered' : undefined;
    };
    return [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
      .filter((element) => element.tabIndex >= 0 && !element.disabled && element.checkVisibility({ visibilityProperty: true }))
      .map((element) => [faultOf(element), element])
      .filter(([fault]) => fault)
      .map(([fault, element]) => fault + ': ' + element.outerHTML.slice(0, 120));
  })()`);
}

/** The flaws of a printed page: controls that only a screen needs, light text, or text that is cut off because it cannot be scrolled. */
export async function printFlawsOf(page: Page): Promise<string[]> {
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  const flaws = await page.evaluate<string[]>(`(() => {
    const shown = (selector) => [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility());
    const isCut = (each) => getComputedStyle(each).overflow !== 'visible' && each.scrollHeight > each.clientHeight + 1;
    const isLight = (each) => getComputedStyle(each).color.match(/\\d+/g).slice(0, 3).every((part) => part > 128);
    return [
      ...shown('.bar, .filters, .liveness, .query-panel').map(({ className }) => className + ' is printed'),
      ...shown('h1').filter(isLight).map(() => 'the heading is light'),
      ...shown('main :not(.visually-hidden)').filter(isCut).map(({ outerHTML }) => 'cut off: ' + outerHTML.slice(0, 120)),
    ];
  })()`);
  await page.emulateMedia({ media: 'screen' });
  return flaws;
}

/** Everything about a page that must be empty or zero. Axe checks all rules, or those that are passed. */
export async function flawsOf(
  { page, complaints, foreign }: WatchedPage,
  rules?: readonly string[],
): Promise<object> {
  return { findings: await findingsOf(page, rules), overflow: await overflowOf(page), complaints, foreign };
}

export const noFlaws = { findings: [], overflow: 0, complaints: [], foreign: [] };
