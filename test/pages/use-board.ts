import type { Page } from 'playwright-core';
import type { StripTab } from './tab-strip.ts';
import { usePages } from './use-pages.ts';

/** What tests of the board of the team WEB use. It starts a server and a browser as `usePages` does. */
export function useBoard() {
  const pages = usePages();
  let serial = 0;
  return {
    pages,
    /** Creates an issue with this title, and returns its key. */
    create: (title: string) => pages.create('WEB', { title }),
    /** A title that no other issue has. */
    name: () => `Seen on a board ${(serial += 1)}`,
    card: (page: Page, title: string) => page.getByRole('link', { name: title }),
    /** The address of the board, which also signs in. */
    signedInBoard: () => `${pages.app.url}/board/WEB#token=${pages.app.token}`,
    isLive: (page: Page) => page.getByRole('status').filter({ hasText: 'Live' }).waitFor(),
    isLiveIn: (tab: StripTab) => tab.waitFor('[role=status]', 'Live'),
  };
}
