import { expect, it } from '@jest/globals';
import { parse } from 'graphql';
import { defaultReadBudget, readBounds } from '../../src/db/query/read-bounds.ts';
import { Loaders } from '../../src/db/reads/loaders.ts';
import { isAnswerTooLarge } from '../../src/executor/answers/errors.ts';
import type { ExecutorName, OperationContext } from '../../src/executor/run/execute.ts';
import { openSubscription } from '../../src/executor/run/subscribe.ts';
import { memberRole, principalKind } from '../../src/model/codes.ts';
import { scopes } from '../../src/resolvers/context.ts';
import { SerialQueue } from '../../src/resolvers/writes/serial-queue.ts';
import { writesOf } from '../../src/resolvers/writes/write-transaction.ts';
import { schema } from '../../src/schema/index.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { newestCursor } from './subscribing.ts';

const { app, world, ada } = useIssueWorld();

function contextOf(executor: ExecutorName): OperationContext {
  const { database, workspaceId, ownerUserAccountId: userAccountId } = app;
  const db = database.of(workspaceId);
  const bounds = readBounds(defaultReadBudget);
  const now = new Date();
  const quota = { limit: 1, remaining: 1, resetUtc: now };
  return {
    requestId: 'large-events',
    executor,
    db,
    bounds,
    now,
    connect: () => database.connect(),
    loaders: new Loaders(db, bounds),
    principal: {
      workspaceId,
      userAccountId,
      memberId: userAccountId,
      displayName: 'Owner',
      role: memberRole.owner,
      principalKind: principalKind.user,
      tokenId: userAccountId,
      scopes: new Set(scopes),
      expiresUtc: null,
    },
    writes: writesOf(new SerialQueue(), { batching: false }),
    files: undefined,
    ping: () => Promise.resolve(),
    rateLimit: { requests: quota, cost: quota },
  };
}

/** Opens a subscription whose events repeat the description of an issue of 100,000 characters. */
function open(context: OperationContext, times: number) {
  const texts = Array.from({ length: times }, (_, n) => `t${n}: description`).join(' ');
  const document = parse(`subscription { changes { issue { ${texts} } } }`);
  return openSubscription({ schema, document, operationName: undefined, variables: undefined }, context);
}

async function createThree(): Promise<string> {
  const start = await newestCursor(app);
  const input = { teamId: world.eng.id, title: 'Long', description: 'd'.repeat(100_000) };
  for (let count = 0; count < 3; count += 1) await ada.create(input);
  await newestCursor(app);
  return start;
}

it.each(['compiled', 'graphql-js'] as const)(
  'the %s executor answers only as many events at once as fit into one answer',
  async (executor) => {
    let cursor = await createThree();
    const context = contextOf(executor);
    const { read } = open(context, 40);
    const counts: number[] = [];
    for (let hasMore = true; hasMore; ) {
      const page = await read(context, cursor);
      counts.push(page.events.length);
      ({ cursor, hasMore } = page);
    }
    // Each has 4 MB.
    expect(counts).toEqual([2, 1]);
  },
);

it.each(['compiled', 'graphql-js'] as const)(
  'the %s executor refuses an event that is too large alone',
  async (executor) => {
    const start = await createThree();
    const context = contextOf(executor);
    const { read } = open(context, 101);
    expect(isAnswerTooLarge(await read(context, start).catch((error: unknown) => error))).toBe(true);
  },
);
