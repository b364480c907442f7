import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Config } from '../../server/config.ts';
import { workerEnvironment } from '../../server/process-environment.ts';
import { createLogger } from '../../server/observability/logger.ts';
import { type MetricsServer, serveMetrics } from '../../server/observability/metrics-server.ts';
import { secretsOf } from '../../server/observability/redaction.ts';
import { quotasOf } from '../../server/limits/quotas.ts';
import { QuotaLeases } from '../../server/workers/quota-leases.ts';
import { describeShare, shareOf } from '../../server/workers/shares.ts';
import { SummedMetrics } from '../../server/workers/summed-metrics.ts';
import { Supervisor } from '../../server/workers/supervisor.ts';
import { EarlyExit } from '../../server/workers/worker-process.ts';
import { exitCodes } from '../failures.ts';
import { printGreeting } from './greeting.ts';
import type { Start } from './start.ts';
import { stopWithinMs } from './stop-limits.ts';

interface SuperviseOptions {
  readonly config: Config;
  readonly workers: number;
  readonly stopped: Start['stopped'];
}

/** Runs several workers until they are to stop, and returns the exit code. */
export async function supervise({ config, workers, stopped }: SuperviseOptions): Promise<number> {
  const logger = await createLogger(config.logLevel, { secrets: secretsOf(config) });
  const [, script = '', ...args] = process.argv;
  const supervisor = new Supervisor({
    workers,
    port: await portOf(config),
    program: { script, args, env: workerEnvironment() },
    quotas: new QuotaLeases(quotasOf(config.rates), workers),
    logger,
    stopWithinMs: config.drainMs + stopWithinMs.worker,
  });
  // A second signal ends this process at once, and its workers with it.
  process.on('exit', () => supervisor.kill());
  // SIGHUP reloads the workers, except in a terminal, where it means that the terminal was closed.
  if (!process.stderr.isTTY) process.on('SIGHUP', () => supervisor.reload());
  let metrics: MetricsServer | undefined;
  try {
    if (config.metricsAddress)
      metrics = await serveMetrics(new SummedMetrics(supervisor), config.metricsAddress);
    const { url, token } = await supervisor.start();
    process.stderr.write(`${describeShare(shareOf(config, workers), workers)}\n`);
    logger.info({ url, workers }, `workgraph is ready at ${url} with ${workers} workers`);
    printGreeting(config, url, token);
    const reason = await Promise.race([stopped, supervisor.failed.then(() => 'failed' as const)]);
    if (reason === 'failed') logger.fatal('no worker is left and new ones keep dying, so the service ends');
    else logger.info({ reason }, 'stopping');
    await supervisor.stop();
    return reason === 'failed' ? exitCodes.failed : exitCodes.done;
  } catch (error) {
    supervisor.kill();
    // The worker has printed the reason.
    if (error instanceof EarlyExit) return error.exit.code ?? exitCodes.failed;
    throw error;
  } finally {
    metrics?.close();
  }
}

/** The port of all workers: a free one if the setting is 0. */
async function portOf({ host, port }: Pick<Config, 'host' | 'port'>): Promise<number> {
  if (port !== 0) return port;
  const probe = createServer().listen(0, host);
  await once(probe, 'listening');
  const { port: freePort } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return freePort;
}
