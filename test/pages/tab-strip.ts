import { EventEmitter, on, once } from 'node:events';
import type { Browser } from 'playwright-core';

/**
 * A window of which one tab is visible and the browser hides the others. Playwright makes every page that it opens
 * believe that it is in front, so these tabs are controlled over the DevTools protocol alone.
 */
export interface TabStrip {
  /** Opens a page in a new tab, which hides the tab that was in front. */
  open(url: string): Promise<StripTab>;
  /** Closes all tabs. */
  close(): Promise<void>;
}

export interface StripTab {
  /** Brings the tab to the front. */
  show(): Promise<void>;
  isHidden(): Promise<boolean>;
  /** Waits until an element that matches the selector contains the text. */
  waitFor(selector: string, text: string): Promise<void>;
  /** Waits until the tab requests a stream of events, and returns the headers of the request. */
  waitForStreamRequest(): Promise<Record<string, string>>;
  /** Waits until the tab aborts a request, which closes its stream. */
  waitForAbortedRequest(): Promise<void>;
}

/** A message of the browser about a tab: the answer to a command, or an event. */
interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: object;
  readonly result?: { readonly result?: { readonly value?: unknown } };
  readonly error?: { readonly message: string };
}

interface RequestEvent {
  readonly request: { readonly headers: Record<string, string> };
}

export async function openTabStrip(browser: Browser): Promise<TabStrip> {
  const devtools = await browser.newBrowserCDPSession();
  const targets: string[] = [];
  return {
    async open(url) {
      const { targetId } = await devtools.send('Target.createTarget', { url: 'about:blank' });
      targets.push(targetId);
      const { sessionId } = await devtools.send('Target.attachToTarget', { targetId });
      const events = new EventEmitter();
      devtools.on('Target.receivedMessageFromTarget', (received) => {
        if (received.sessionId !== sessionId) return;
        const message = JSON.parse(received.message) as Message;
        if (message.method === undefined) events.emit(`answer ${message.id}`, message);
        else events.emit(message.method, message.params);
      });
      let commands = 0;
      const send = async (method: string, params: object = {}) => {
        commands += 1;
        const answered = once(events, `answer ${commands}`) as Promise<[Message]>;
        const message = JSON.stringify({ id: commands, method, params });
        await devtools.send('Target.sendMessageToTarget', { sessionId, message });
        const [{ result, error }] = await answered;
        if (error) throw new Error(`${method}: ${error.message}`);
        return result;
      };
      const evaluate = async (expression: string) =>
        (await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true }))?.result
          ?.value;

      await send('Network.enable');
      await send('Page.enable');
      const loaded = once(events, 'Page.loadEventFired');
      await send('Page.navigate', { url });
      await loaded;
      return {
        show: async () => {
          await devtools.send('Target.activateTarget', { targetId });
        },
        isHidden: async () => (await evaluate('document.hidden')) === true,
        waitFor: async (selector, text) => {
          await evaluate(`new Promise((resolve) => {
            const look = () => [...document.querySelectorAll(${JSON.stringify(selector)})]
              .some(({ textContent }) => textContent.includes(${JSON.stringify(text)})) && resolve();
            new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true });
            look();
          })`);
        },
        async waitForStreamRequest() {
          for await (const [{ request }] of on(events, 'Network.requestWillBeSent') as AsyncIterable<
            [RequestEvent]
          >)
            if (request.headers['Accept'] === 'text/event-stream') return request.headers;
          throw new Error('The tab was closed before it requested a stream.');
        },
        waitForAbortedRequest: async () => {
          await once(events, 'Network.loadingFailed');
        },
      };
    },
    async close() {
      for (const targetId of targets.splice(0)) await devtools.send('Target.closeTarget', { targetId });
      await devtools.detach();
    },
  };
}
