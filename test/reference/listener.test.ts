import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { Listener } from '../../src/db/engine/listener.ts';
import type { App } from '../support/app.ts';
import { hasServer, urlOf } from '../db/engines.ts';

const onPostgres = hasServer ? describe : describe.skip;

onPostgres('a listener', () => {
  let app: App;
  let listener: Listener;
  const gaps = heardInTurn<void>();
  const changes = heardInTurn<string>();
  const failures = heardInTurn<unknown>();
  const others = heardInTurn<string>();
  const otherGaps = heardInTurn<void>();

  beforeAll(async () => {
    const { startApp } = await import('../support/app.ts');
    app = await startApp();
    listener = new Listener({
      name: 'workgraph listener',
      url: await urlOf(app.database),
      channels: {
        workgraph_reference: { onNotification: changes.hear, onGap: gaps.hear },
        'another Channel': { onNotification: others.hear, onGap: otherGaps.hear },
      },
      onFailure: failures.hear,
    });
  });
  afterAll(async () => {
    await listener.close();
    await app.stop();
  });

  const rename = () =>
    app.database.unscoped
      .updateTable('member as m')
      .set({ displayName: `Renamed ${randomUUID()}` })
      .where('m.workspaceId', '=', app.workspaceId)
      .execute();

  it('reports a gap when it starts, and then each write', async () => {
    await gaps.next();
    await rename();
    expect(await changes.next()).toBe('written');
  });

  it.each([
    ['rows that no token depends on', "update member set avatar_url = coalesce(avatar_url, '') || 'x'"],
    ['a token alone', 'update access_token set revoked_utc = now()'],
  ])('hears of a write of %s', async (_what, statement) => {
    await sql.raw(statement).execute(app.database.unscoped);
    expect(await changes.next()).toBe('written');
  });

  it('passes a notification to the handler of its channel, and a gap to all handlers', async () => {
    await otherGaps.next();
    await sql`select pg_notify('another Channel', 'for the other')`.execute(app.database.unscoped);
    expect(await others.next()).toBe('for the other');
    await rename();
    expect(await changes.next()).toBe('written');
  });

  it('reports a gap when its connection is lost, and listens on a new one', async () => {
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'workgraph listener'`.execute(
      app.database.unscoped,
    );
    await gaps.next();
    expect(await failures.next()).toBeInstanceOf(Error);
    // The second gap is reported once it listens again.
    await gaps.next();
    await rename();
    expect(await changes.next()).toBe('written');
  });
});

/** A queue of events, of which the test awaits one after the other. */
function heardInTurn<Event>() {
  const heard: Event[] = [];
  const waiting: ((event: Event) => void)[] = [];
  return {
    hear: (event: Event) => {
      const next = waiting.shift();
      if (next) next(event);
      else heard.push(event);
    },
    next: () =>
      new Promise<Event>((resolve) => {
        if (heard.length > 0) resolve(heard.shift() as Event);
        else waiting.push(resolve);
      }),
  };
}
