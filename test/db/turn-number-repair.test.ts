import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { migrate } from '../../src/db/engine/migrate.ts';
import { type App, startApp } from '../support/app.ts';
import { allowFallback } from '../support/deliberate-fallbacks.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { installAgent, type IssueWorld, issueWorld } from '../support/issue-world.ts';
import { type Caller, callerOf } from '../support/mutations.ts';
import { uuidOf } from '../support/ids.ts';

let app: App;
let world: IssueWorld;
let ada: Caller;
let agent: Caller;

beforeAll(async () => {
  app = await startApp();
  world = await issueWorld(app);
  await installAgent(app, world, world.agent);
  ada = callerOf(app, world.ada.token);
  agent = callerOf(app, world.agent.token);
});
afterAll(() => app.stop());

const name = '0023_turn_numbers';

describe('the migration of turn numbers', () => {
  it('repairs threads that cannot accept messages, leaves the others unchanged and reports the number', async () => {
    const stopped = await newThread([1, 1, 2, 2_147_483_647], 2);
    const zero = await newThread([0, 2_147_483_646, 2_147_483_647], 2_147_483_647);
    const sound = await newThread([1, 2, 2, 5, 5], 2);
    const body = { body: 'Please', issueKey: stopped };
    allowFallback('2147483648');
    expect(await ada.refusalOf('agentMessageCreate', body)).toMatchObject({ code: 'INTERNAL_ERROR' });

    const lines = await migrateAgain();
    expect(lines).toEqual([
      `applied migration ${name}`,
      `migration ${name} repaired the turn numbers of 2 agent threads`,
    ]);
    expect(await turnsOf(stopped)).toEqual({ turns: [1, 1, 2, 3], current: 3, completed: 2 });
    expect(await turnsOf(zero)).toEqual({ turns: [0, 1, 2], current: 2, completed: 2 });
    expect(await turnsOf(sound)).toEqual({ turns: [1, 2, 2, 5, 5], current: 5, completed: 2 });
    for (const key of [stopped, zero, sound]) {
      await agent.mutate('agentMessageCreate', { issueKey: key, body: 'Done' });
      await ada.mutate('agentMessageCreate', { issueKey: key, body: 'Thanks' });
    }
    expect((await turnsOf(stopped)).current).toBe(4);
    expect(await brokenInvariants(app.database)).toEqual({});
  });

  it('reports nothing if no thread needs a repair', async () => {
    expect(await migrateAgain()).toEqual([`applied migration ${name}`]);
  });
});

/** Creates an issue whose thread has messages of these turns and ends with a response. Returns its key. */
async function newThread(turns: readonly number[], completed: number): Promise<string> {
  const { key } = await ada.create({ teamId: world.eng.id, title: 'An issue' });
  const ids = { thread: '', messages: [] as string[] };
  for (const turn of turns) {
    const { thread, message } = await agent.mutate('agentMessageCreate', {
      issueKey: key,
      body: `Turn ${turn}`,
    });
    ids.thread = uuidOf(thread.id);
    ids.messages.push(uuidOf(message.id));
  }
  // Set by SQL after the last message, because the server no longer accepts such turns.
  const { unscoped } = app.database;
  for (const [index, id] of ids.messages.entries())
    await sql`update agent_thread_message set turn_number = ${turns[index]} where id = ${id}`.execute(
      unscoped,
    );
  await sql`update agent_thread
    set current_turn_number = ${Math.max(...turns)}, last_completed_turn_number = ${completed}
    where id = ${ids.thread}`.execute(unscoped);
  return key;
}

async function turnsOf(key: string) {
  const { body } = await app.graphql<Record<'issue', { agentThread: Thread }>>(
    `query ($key: String!) { issue(key: $key) { agentThread {
      currentTurnNumber lastCompletedTurnNumber messages { nodes { turnNumber } }
    } } }`,
    { key },
  );
  const thread = body.data?.issue.agentThread;
  return {
    turns: thread?.messages.nodes.map(({ turnNumber }) => turnNumber),
    current: thread?.currentTurnNumber,
    completed: thread?.lastCompletedTurnNumber,
  };
}

interface Thread {
  currentTurnNumber: number;
  lastCompletedTurnNumber: number;
  messages: { nodes: { turnNumber: number }[] };
}

/** Runs the migration again on the current rows. */
async function migrateAgain(): Promise<string[]> {
  const lines: string[] = [];
  await sql`delete from migration where name = ${name}`.execute(app.database.unscoped);
  expect(await migrate(app.database, { log: (line) => lines.push(line) })).toEqual([name]);
  return lines;
}
