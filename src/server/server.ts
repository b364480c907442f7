import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Database } from '../db/engine/engine.ts';
import { type Channels, Listener } from '../db/engine/listener.ts';
import { defaultReadBudget, readBounds } from '../db/query/read-bounds.ts';
import { defaultOperationCost } from '../executor/limits.ts';
import { LiveChanges } from '../live/live-changes.ts';
import { ReferenceMemory } from '../reference/memory.ts';
import { referenceChannels } from '../reference/notifications.ts';
import { createRestHandler } from '../rest-compat/rest-handler.ts';
import { SerialQueue } from '../resolvers/writes/serial-queue.ts';
import { writesOf } from '../resolvers/writes/write-transaction.ts';
import type { TrustedDocuments } from '../executor/documents/persisted.ts';
import { schema } from '../schema/index.ts';
import { Admission, defaultAdmission } from './limits/admission.ts';
import { Authenticator } from './authenticate.ts';
import { Callers } from './callers.ts';
import { ChangeWaits } from './change-waits.ts';
import { Clients } from './http/clients.ts';
import type { Config } from './config.ts';
import { Contexts } from './context.ts';
import { CrossOrigin } from './http/cross-origin.ts';
import { warnOfDescriptorLimit, watchDescriptors } from './file-descriptors.ts';
import { createFileHandler } from './file-handler.ts';
import { Front } from './front.ts';
import { createGraphQLHandler } from './graphql/graphql.ts';
import { WebSockets } from './graphql/web-socket.ts';
import { HttpServer } from './http-server.ts';
import { FreshStatistics } from './fresh-statistics.ts';
import { startJanitor } from './janitor.ts';
import { openMetrics } from './observability/open-metrics.ts';
import { watchStreams } from './observability/stream-metrics.ts';
import type { ServerFiles } from './open-files.ts';
import { createPages } from './pages/pages.ts';
import { OpenedParts } from './opened-parts.ts';
import { openReplicas } from './open-replicas.ts';
import { warnOfConnectionLimit } from './connection-limit.ts';
import { listenerName, warnOfNeighbours } from './neighbours.ts';
import { openRateLimiter } from './limits/rate-limit.ts';
import { logSlowStatements } from './observability/slow-statements.ts';
import { settings } from './settings.ts';
import { Webhooks } from './webhooks.ts';
import { joinWorkers } from './workers/join-workers.ts';
import { UnknownTokens } from './limits/unknown-tokens.ts';
import { WorkspaceShares } from './limits/workspace-shares.ts';
import { UnfinishedBodies } from './http/unfinished-bodies.ts';
import { defaultUnsentBytes, Unsent } from './http/unsent.ts';
import type { WorkerLink } from './workers/worker-link.ts';

export interface ServerOptions {
  readonly database: Database;
  readonly config: Pick<Config, 'host' | 'port' | 'publicUrl' | 'explorer'> &
    Partial<
      Pick<
        Config,
        | 'rates'
        | 'maxOperationCost'
        | 'redisUrl'
        | 'executor'
        | 'writeBatching'
        | 'readBudget'
        | 'graphqlPath'
        | 'metricsAddress'
        | 'tracing'
        | 'referenceRows'
        | 'changesDays'
        | 'webhookNetworks'
        | 'streams'
        | 'admission'
        | 'clientTimeoutMs'
        | 'unsentBytes'
        | 'slowStatementMs'
      > &
        Pick<Config, 'introspection' | 'corsOrigins' | 'trustedProxies'> &
        Pick<Config, 'databaseUrl' | 'prepared' | 'listenUrl' | 'pool' | 'readDatabaseUrls'> &
        Pick<Config, 'signingKeys' | 'storageUrl' | 'dataDir'>
    >;
  readonly logger: Logger;
  /** Without it the server has no files: attachments cannot be created or read. */
  readonly files?: ServerFiles | undefined;
  /** The manifest. Without it any document is accepted, and none is known before a client has sent it. */
  readonly documents?: TrustedDocuments | undefined;
  /** The supervisor of this process, if it is one of several workers. */
  readonly link?: WorkerLink | undefined;
}

/** A server that accepts requests. */
export interface RunningServer {
  /** Its URL on this machine. */
  readonly url: string;
  /** The URL of its metrics, if they are configured. */
  readonly metricsUrl: string | undefined;
  /**
   * Makes readiness fail for `drainMs`, then refuses new connections and waits for requests in progress, `withinMs` at most.
   * Readiness does not fail if another worker continues. The database stays open, and the caller must close it.
   */
  stop(options?: { drainMs?: number; withinMs?: number; isReplaced?: boolean }): Promise<unknown>;
}

/** A client may read nothing for this many times as long as it may send nothing. */
const unreadFactor = 3;

/** Starts a server. Throws the error of `listen`, such as EADDRINUSE, after it has closed what it had opened. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const opened = new OpenedParts();
  try {
    return await start(options, opened);
  } catch (error) {
    await opened.close().catch((closing: unknown) => options.logger.warn({ err: closing }, 'closing failed'));
    throw error;
  }
}

async function start(options: ServerOptions, opened: OpenedParts): Promise<RunningServer> {
  const { database, config, logger, files, documents, link } = options;
  if (!link || link.start.isFirst) {
    await warnOfNeighbours(database, config, logger);
    await warnOfConnectionLimit(database, config, link?.start.workers ?? 1, logger);
    warnOfDescriptorLimit(config, logger);
  }
  const reference = new ReferenceMemory(database, { maxRows: config.referenceRows });
  opened.add(() => reference.close());
  const live = new LiveChanges(database, logger, config.streams);
  opened.add(() => live.close());
  const channels = { ...referenceChannels(reference), ...live.watch.channels };
  // Every worker takes part from its start: those that do not lead are told by the one that listens.
  const sharedChannels = link?.share(channels) ?? channels;
  const listenForOthers = () => {
    const listener = listen({ config, database, logger }, sharedChannels);
    opened.add(() => listener?.close());
  };
  if (!link) listenForOthers();
  const authenticator = new Authenticator(database, reference, logger);
  opened.add(() => authenticator.settle());
  const rateLimiter = await openRateLimiter(config.rates, config.redisUrl, logger, link);
  opened.add(() => rateLimiter.close());
  const replicas = await openReplicas({ database, config, logger, link });
  opened.add(() => replicas?.close());
  const admission = new Admission(config.admission);
  const shares = new WorkspaceShares(config.admission ?? defaultAdmission);
  const changeWaits = new ChangeWaits(live, admission);
  const webhooks = new Webhooks(config);
  const unknownTokens = new UnknownTokens(config.rates?.unknownTokensPerMinute);
  const callers = new Callers({ authenticator, rateLimiter, unknownTokens });
  const contexts = new Contexts({
    database,
    logger,
    callers,
    files,
    reference,
    maxCost: config.maxOperationCost ?? defaultOperationCost,
    executor: config.executor,
    recentWrites: replicas?.recentWrites,
    writes: writesOf(new SerialQueue(), { batching: config.writeBatching ?? true }),
    changeWaits,
    webhooks: webhooks.sending,
    shares,
    bounds: readBounds(config.readBudget ?? defaultReadBudget),
  });
  const warn = logger.warn.bind(logger);
  const graphql = createGraphQLHandler(schema, { ...config, documents, warn });
  const rest = createRestHandler(schema);
  const clientMs = config.clientTimeoutMs ?? settings.CLIENT_TIMEOUT_MS.default;
  const unsent = new Unsent({
    maxBytes: config.unsentBytes ?? defaultUnsentBytes,
    silenceMs: unreadFactor * clientMs,
    onStreamCut: () => {
      live.counts.cut.unread += 1;
    },
    onCut: (bytes, silentMs) =>
      logger.info({ bytes, silentMs }, 'a client that did not read its answer was disconnected'),
  });
  const metrics = await openMetrics(
    config.metricsAddress,
    { database, graphql, admission, shares, reference, unsent, webhooks },
    link,
  );
  opened.add(() => metrics?.close());
  const tracing = config.tracing && new (await import('./observability/tracing.ts')).Tracing(config.tracing);
  opened.add(() => tracing?.stop());
  if (metrics) watchStreams(metrics.metrics, live, changeWaits);
  if (link) joinWorkers(link, { unknownTokens, openStreams: live.openStreams, rateLimiter });
  const crossOrigin = new CrossOrigin({ ...config, filesUrl: files?.filesUrl });
  const clients = new Clients(config);
  const unfinishedBodies = new UnfinishedBodies();
  const webSockets = new WebSockets({
    admission,
    callers,
    contexts,
    graphql,
    clients,
    crossOrigin,
    unsent,
    unfinishedBodies,
    openStreams: live.openStreams,
    logger,
    metrics: metrics?.metrics,
    tracing,
    clientMs,
  });
  const front = new Front({
    admission,
    callers,
    contexts,
    graphql,
    rest,
    pages: createPages(schema, { ...config, filesUrl: files?.filesUrl }),
    files: files && createFileHandler({ files, admissions: { admission, shares } }),
    logger,
    metrics: metrics?.metrics,
    tracing,
    clients,
    unfinishedBodies,
    unsent,
    crossOrigin,
    clientMs,
  });
  const server = new HttpServer({ front, webSockets, publicUrl: config.publicUrl, clientMs });
  await server.listen(config, link);
  const deliverer = webhooks.start({
    database,
    schema,
    logger,
    admission,
    contextOf: (principal) => contexts.serviceContext(principal, randomUUID()),
  });
  live.watch.onAny((workspaceId) => deliverer.wake(workspaceId));
  opened.add(logSlowStatements(logger, config.slowStatementMs ?? settings.SLOW_STATEMENT_MS.default));
  opened.add(watchDescriptors(logger));
  const clean = () =>
    startJanitor({
      database,
      store: files?.store,
      logger,
      changesDays: config.changesDays ?? settings.CHANGES_DAYS.default,
      additionalChores: webhooks.choresOf(database),
    });
  const statistics = database.engine === 'embedded' ? new FreshStatistics(database, logger) : undefined;
  let stopping: Promise<unknown> | undefined;
  let janitor = link ? undefined : clean();
  link?.onLead(() => {
    if (stopping) return;
    listenForOthers();
    janitor = clean();
  });
  return {
    url: server.url,
    metricsUrl: metrics?.url,
    stop: ({ drainMs = 0, withinMs = 8_000, isReplaced = false } = {}) => {
      contexts.draining = isReplaced ? 'replaced' : 'stopping';
      live.watch.close(drainMs);
      webSockets.close(drainMs);
      stopping ??= Promise.all([
        server.stop({ drainMs, withinMs, isReplaced }),
        janitor?.stop(),
        statistics?.close(),
        link?.settle(drainMs),
        webhooks.close(),
      ]).then(() => opened.close());
      return stopping;
    },
  };
}

/** Listens for the changes of other processes. A pooler passes no notifications on. */
function listen(
  { config, database, logger }: Pick<ServerOptions, 'config' | 'database'> & { logger: Logger },
  channels: Channels,
): Listener | undefined {
  const { databaseUrl, listenUrl, prepared } = config;
  const url = listenUrl ?? (prepared ? databaseUrl : undefined);
  if (url === undefined) return undefined;
  return new Listener({
    url,
    name: listenerName(config),
    channels,
    generations: database.generations,
    onFailure: (error) =>
      logger.warn(
        { err: error },
        'notifications from PostgreSQL are interrupted, so changes by other processes are seen later',
      ),
  });
}
