import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { type Database, openDatabase } from '../../src/db/engine/engine.ts';
import type { Replicas } from '../../src/db/engine/replicas.ts';
import { issueToken } from '../../src/resolvers/access-tokens.ts';
import { systemActor } from '../../src/resolvers/audit.ts';
import { scopes } from '../../src/resolvers/context.ts';
import { readConfig } from '../../src/server/config.ts';
import { startServer } from '../../src/server/server.ts';
import { Cluster } from '../faults/support/cluster.ts';
import { makeWorld, type World } from '../faults/support/world.ts';
import type { App } from './app.ts';
import { generousAdmission } from './generous-admission.ts';
import { httpClient } from './http-client.ts';

/** A server on a private PostgreSQL with a streaming standby, which serves queries. */
export interface Replicated extends Pick<App, 'graphql' | 'request'> {
  readonly primary: Cluster;
  readonly standby: Cluster;
  readonly world: World;
  readonly database: Database;
  readonly replicas: Replicas;
  /** A token of its own, which has written nothing. */
  newToken(): Promise<string>;
  /** Waits until the standby serves, or until it does not. */
  untilServes(serves: boolean): Promise<void>;
  /** How many queries the standby has answered. */
  served(): number;
  stop(): Promise<void>;
}

export async function replicated(): Promise<Replicated> {
  // The folder of a test run is closed to the user that PostgreSQL runs as.
  const folder = mkdtempSync('/tmp/workgraph-replicas-');
  chmodSync(folder, 0o711);
  const primary = await Cluster.create(join(folder, 'primary'));
  const world = await makeWorld({ url: primary.url });
  const standby = await primary.standby(join(folder, 'standby'));
  const database = await openDatabase({ url: primary.url }, [standby.url]);
  const { replicas } = database;
  if (!replicas) throw new Error('There are no replicas.');
  const config = readConfig(
    { PORT: '0', REQUESTS_PER_MINUTE: '1000000000', COST_PER_HOUR: '1000000000' },
    {},
  );
  const server = await startServer({
    database,
    config: { ...config, admission: generousAdmission },
    logger: pino({ level: 'silent' }),
  });
  const { workspaceId, ownerUserAccountId, token } = world;
  const until = async (holds: () => boolean) => {
    while (!holds()) await delay(10);
  };
  return {
    ...httpClient(server.url, token),
    primary,
    standby,
    world,
    database,
    replicas,
    newToken: async () => {
      const issued = await issueToken(database.of(workspaceId), systemActor, {
        userAccountId: ownerUserAccountId,
        parentTokenId: null,
        name: 'test',
        scopes,
        expiresUtc: undefined,
      });
      return issued.token;
    },
    untilServes: (serves) => until(() => (replicas.choose(undefined) !== undefined) === serves),
    served: () => replicas.each(({ queries }) => queries)['1'] ?? 0,
    stop: async () => {
      await server.stop();
      await database.close();
      await Promise.all([primary.stop(), standby.stop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
