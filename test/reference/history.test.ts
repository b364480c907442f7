import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { inTransaction } from '../../src/db/engine/transaction.ts';
import { ReferenceMemory } from '../../src/reference/memory.ts';
import { type App, startApp } from '../support/app.ts';
import {
  asOtherProcess,
  hold,
  isReadOf,
  isVersionCheck,
  nameOf,
  rename,
  renameUnseen,
  type Steps,
} from './other-process.ts';
import { hasServer } from '../db/engines.ts';

// The embedded engine has one connection, so nothing can be written between the statements of another one.
const onPostgres = hasServer ? describe : describe.skip;

let app: App;
let own: ReferenceMemory;
let steps: Steps;

beforeAll(async () => {
  app = await startApp({ demo: true });
});
beforeEach(() => {
  steps = {};
  own = new ReferenceMemory(asOtherProcess(app.database, steps));
});
afterEach(() => own.close());
afterAll(() => app.stop());

const run = (statement: ReturnType<typeof sql>) => statement.execute(app.database.unscoped);
const nameNow = async () => nameOf(await own.current(app.workspaceId), 'WEB');

/** Runs a write when the memory borrows a connection for its refill, which is the second one after that of its check. */
function atRefill(write: () => Promise<unknown>): void {
  let connections = 0;
  steps.connecting = async () => {
    connections += 1;
    if (connections === 2) await write();
  };
}

describe('a refill', () => {
  it.each(['of everything', 'of what changed'])(
    '%s has the version of its rows, when they are newer than its check',
    async (what) => {
      if (what === 'of what changed') {
        await own.current(app.workspaceId);
        await rename(app, 'WEB', `Before the check ${what}`);
      }
      atRefill(() => rename(app, 'WEB', `Behind the check ${what}`));
      const { version, ...snapshot } = await own.renewed(app.workspaceId).then((read) => ({
        version: read.version,
        name: nameOf(read, 'WEB'),
      }));
      const { rows } = await sql<{ ref: string }>`
        select ref from workspace_version where workspace_id = ${app.workspaceId}`.execute(
        app.database.unscoped,
      );
      expect([snapshot.name, version.ref]).toEqual([`Behind the check ${what}`, Number(rows[0]?.ref)]);
    },
  );

  it('reads everything if the log does not reach back to the known version', async () => {
    await own.current(app.workspaceId);
    await rename(app, 'WEB', 'In the log that was removed');
    await run(sql`delete from reference_change where workspace_id = ${app.workspaceId}`);
    await rename(app, 'CRW', 'In the log that is left');
    const read = await own.renewed(app.workspaceId);
    expect([nameOf(read, 'WEB'), nameOf(read, 'CRW')]).toEqual([
      'In the log that was removed',
      'In the log that is left',
    ]);
  });

  it('reads everything if the known version belongs to another history', async () => {
    await rename(app, 'WEB', 'Of one history');
    const { version } = await own.current(app.workspaceId);
    await renameUnseen(app, 'WEB', 'Of another history');
    await run(sql`
      update reference_change set tag = tag + 1
      where workspace_id = ${app.workspaceId} and version = ${version.ref}`);
    await rename(app, 'CRW', 'Later in that history');
    expect(nameOf(await own.renewed(app.workspaceId), 'WEB')).toBe('Of another history');
  });

  it('accepts a history with smaller versions, and continues with it', async () => {
    await own.current(app.workspaceId);
    await renameUnseen(app, 'WEB', 'Of a shorter history');
    await run(sql`delete from reference_change where workspace_id = ${app.workspaceId}`);
    await run(sql`
      update workspace_version set ref = ref - 1, tag = tag + 1 where workspace_id = ${app.workspaceId}`);
    await own.renewed(app.workspaceId);
    expect(await nameNow()).toBe('Of a shorter history');
  });
});

onPostgres('a refill with a concurrent write', () => {
  /** Writes to two tables in one transaction, after the refill has read members and before it reads teams. */
  const writeBetween = (name: string) => {
    let isWritten = false;
    steps.before = async (statement) => {
      if (!isReadOf('team', statement) || isWritten) return;
      isWritten = true;
      await inTransaction(app.database.of(app.workspaceId), async (trx) => {
        await rename(app, 'WEB', name, trx);
        await trx
          .updateTable('member as m')
          .set({ displayName: name, displayNameFold: name.toLowerCase() })
          .where('m.workspaceId', '=', app.workspaceId)
          .where('m.userAccountId', '=', app.ownerUserAccountId)
          .execute();
      });
    };
  };

  it('sees all of a transaction or nothing', async () => {
    writeBetween('Torn');
    const read = await own.current(app.workspaceId);
    const members = read.table('member');
    const member = members?.by('userAccountId', app.ownerUserAccountId)[0]?.[
      members.columnIndex('displayName')
    ];
    expect([nameOf(read, 'WEB') === 'Torn', member === 'Torn']).toEqual([false, false]);
    expect(nameOf(await own.renewed(app.workspaceId), 'WEB')).toBe('Torn');
  });

  it('contains each row once after reading only the changes', async () => {
    await own.current(app.workspaceId);
    await rename(app, 'CRW', 'Changed');
    writeBetween('Torn again');
    const read = await own.renewed(app.workspaceId);
    const teams = read.table('team')?.by('code', 'WEB').length;
    expect([teams, nameOf(read, 'WEB') === 'Torn again']).toEqual([1, false]);
  });
});

onPostgres('cached data never goes back', () => {
  beforeEach(async () => {
    await rename(app, 'WEB', 'Known');
    await own.current(app.workspaceId);
    await rename(app, 'WEB', 'Older');
  });

  /** A check that has read its rows but has not returned them yet. */
  const slowCheck = async () => {
    const held = hold();
    steps.behind = (statement) => (isReadOf('team', statement) ? held.pass() : undefined);
    const done = own.renewed(app.workspaceId);
    await held.reached;
    steps.behind = undefined;
    return { release: held.release, done };
  };
  /** A check that has started but has not read yet. */
  const lateCheck = async () => {
    const held = hold();
    steps.before = (statement) => (isVersionCheck(statement) ? held.pass() : undefined);
    const done = own.renewed(app.workspaceId);
    await held.reached;
    steps.before = undefined;
    return { release: held.release, done };
  };

  it('with a check that a later one has overtaken', async () => {
    const slow = await slowCheck();
    await rename(app, 'WEB', 'Newer');
    await own.renewed(app.workspaceId);
    slow.release();
    await slow.done;
    expect(await nameNow()).toBe('Newer');
  });

  it('with a check that started later and read first', async () => {
    const late = await lateCheck();
    const slow = await slowCheck();
    await rename(app, 'WEB', 'Newer');
    late.release();
    await late.done;
    slow.release();
    await slow.done;
    expect(await nameNow()).toBe('Newer');
  });

  it('after a check that started first and read last', async () => {
    const late = await lateCheck();
    await own.renewed(app.workspaceId);
    await rename(app, 'WEB', 'Newer');
    late.release();
    expect(nameOf(await late.done, 'WEB')).toBe('Newer');
    expect(await nameNow()).toBe('Newer');
  });
});

onPostgres('a writer', () => {
  it('does not wait for another one, since versions are counted at commit', async () => {
    await inTransaction(app.database.of(app.workspaceId), async (first) => {
      await rename(app, 'WEB', 'By the first', first);
      await inTransaction(app.database.of(app.workspaceId), async (second) => {
        await sql`set local lock_timeout = '2s'`.execute(second);
        await rename(app, 'CRW', 'By the second', second);
      });
    });
    expect(nameOf(await own.renewed(app.workspaceId), 'CRW')).toBe('By the second');
  });
});
