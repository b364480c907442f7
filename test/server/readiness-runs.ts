import type { App } from '../support/app.ts';

/** Calls `count` whenever the resolver of `readiness` runs. */
export function onReadiness({ database }: App, count: () => void): void {
  const ping = database.ping.bind(database);
  Object.assign(database, {
    ping: (withinMs: number) => {
      count();
      return ping(withinMs);
    },
  });
}
