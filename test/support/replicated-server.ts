import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { type Database, openDatabase } from '../../src/db/engine/engine.ts';
import type { Replicas } from '../../src/db/engine/replicas.ts';
import { issueToken } from '../../src/resolvers/access/access-tokens.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';
import { scopes } from '../../src/resolvers/context.ts';
import { readConfig, type Settings } from '../../src/server/config.ts';
import { openFiles } from '../../src/server/open-files.ts';
import { startServer } from '../../src/server/server.ts';
import { Cluster } from '../faults/support/cluster.ts';
import { makeWorld, type World } from '../faults/support/world.ts';
import type { App } from './app.ts';
import { generousAdmission } from './generous-admission.ts';
import { httpClient } from './http-client.ts';

/** A server with its own connections to a PostgreSQL and its streaming standby, which serves queries. */
interface ReplicatedServer extends Pick<App, 'graphql' | 'request'> {
  readonly database: Database;
  readonly replicas: Replicas;
  /** Creates a token that has written nothing. */
  newToken(): Promise<string>;
  /** Waits until the standby serves queries, or until it does not. */
  untilServes(serves: boolean): Promise<void>;
  /** How many queries of this server the standby has answered. */
  served(): number;
  stop(): Promise<void>;
}

/** A server with its own PostgreSQL and standby. */
export interface ReplicatedSetup extends ReplicatedServer {
  readonly primary: Cluster;
  readonly standby: Cluster;
  readonly world: World;
  /** Starts another server, as on another machine. */
  another(): Promise<ReplicatedServer>;
}

/** Starts a server on a new PostgreSQL with a standby. The settings are also those of other servers on it. */
export async function startReplicatedServer(settings: Settings = {}): Promise<ReplicatedSetup> {
  // The folder of a test run is closed to the user that PostgreSQL runs as.
  const folder = mkdtempSync('/tmp/workgraph-replicas-');
  chmodSync(folder, 0o711);
  const primary = await Cluster.create(join(folder, 'primary'));
  const world = await makeWorld({ url: primary.url });
  const standby = await primary.standby(join(folder, 'standby'));
  const start = () => serverOn({ primary, standby, world }, settings);
  const server = await start();
  return {
    ...server,
    primary,
    standby,
    world,
    another: start,
    stop: async () => {
      await server.stop();
      await Promise.all([primary.stop(), standby.stop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function serverOn(
  { primary, standby, world }: Pick<ReplicatedSetup, 'primary' | 'standby' | 'world'>,
  settings: Settings,
): Promise<ReplicatedServer> {
  const database = await openDatabase({ url: primary.url }, [standby.url]);
  const { replicas } = database;
  if (!replicas) throw new Error('There are no replicas.');
  const files = mkdtempSync(join(tmpdir(), 'workgraph-replicated-'));
  const config = readConfig(
    {
      PORT: '0',
      DATA_DIR: files,
      REQUESTS_PER_MINUTE: '1000000000',
      COST_PER_HOUR: '1000000000',
      ...settings,
    },
    {},
  );
  const server = await startServer({
    database,
    config: { ...config, admission: generousAdmission },
    files: openFiles(config),
    logger: pino({ level: 'silent' }),
  });
  const { workspaceId, ownerUserAccountId, token } = world;
  const waitUntil = async (holds: () => boolean) => {
    while (!holds()) await delay(10);
  };
  return {
    ...httpClient(server.url, token),
    database,
    replicas,
    newToken: async () => {
      const created = await issueToken(database.of(workspaceId), systemActor, {
        userAccountId: ownerUserAccountId,
        parentTokenId: null,
        name: 'test',
        scopes,
        expiresUtc: undefined,
      });
      return created.token;
    },
    untilServes: (serves) => waitUntil(() => (replicas.choose(undefined) !== undefined) === serves),
    served: () => replicas.each(({ queries }) => queries)['1'] ?? 0,
    stop: async () => {
      await server.stop();
      await database.close();
      rmSync(files, { recursive: true, force: true });
    },
  };
}
