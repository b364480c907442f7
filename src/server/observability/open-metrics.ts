import type { Config } from '../config.ts';
import type { WorkerLink } from '../workers/worker-link.ts';
import type { Metrics } from './metrics.ts';
import { type ServerParts, watchServer } from './server-metrics.ts';

/** The metrics of this process, and where they are served. */
interface OpenMetrics {
  readonly metrics: Metrics;
  /** Undefined in a worker, whose supervisor serves the sums of all. */
  readonly url: string | undefined;
  close(): void;
}

/** Opens the metrics. Their modules are loaded only if they are configured. */
export async function openMetrics(
  address: Config['metricsAddress'],
  parts: ServerParts,
  link: WorkerLink | undefined,
): Promise<OpenMetrics | undefined> {
  if (!address) return undefined;
  const [{ Metrics }, { serveMetrics }] = await Promise.all([
    import('./metrics.ts'),
    import('./metrics-server.ts'),
  ]);
  const metrics = new Metrics();
  watchServer(metrics, parts);
  if (!link) return { metrics, ...(await serveMetrics(metrics, address)) };
  link.readMetrics = () => metrics.snapshot();
  // Its last counts are read after the server has stopped.
  return { metrics, url: undefined, close: () => undefined };
}
