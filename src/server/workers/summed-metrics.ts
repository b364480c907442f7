import { AggregatorRegistry, Gauge, Registry } from 'prom-client';
import type { MetricsSnapshot } from './messages.ts';

interface Sources {
  readMetrics(): Promise<MetricsSnapshot[]>;
  onRetired(callback: (snapshot: MetricsSnapshot) => void): void;
}

/**
 * The metrics of all workers, added up. Counts of workers that have ended stay in the sums: otherwise a sum would fall when a
 * worker is replaced, which Prometheus would treat as a restart, and then count the rest again.
 */
export class SummedMetrics {
  readonly #sources: Sources;
  readonly #contentType = new Registry().contentType;
  #retired: MetricsSnapshot = [];
  /** Resolves when the counts of all workers that have ended are in `#retired`. */
  #keeping: Promise<void> = Promise.resolve();

  constructor(sources: Sources) {
    this.#sources = sources;
    sources.onRetired((snapshot) => {
      this.#keeping = this.#keeping.then(() => this.#keep(snapshot));
    });
  }

  async print(): Promise<{ contentType: string; text: string }> {
    await this.#settled();
    // A worker that ends while metrics are read still returns its last ones, so they must not be in `retired` as well.
    const retired = this.#retired;
    const snapshots = (await this.#sources.readMetrics()).filter(({ length }) => length > 0);
    const sums = AggregatorRegistry.aggregate([...snapshots, retired]);
    new Gauge({
      name: 'workgraph_workers',
      help: 'Worker processes whose metrics these are',
      registers: [sums],
    }).set(snapshots.length);
    return { contentType: this.#contentType, text: await sums.metrics() };
  }

  close(): void {
    this.#retired = [];
  }

  async #settled(): Promise<void> {
    let settled: Promise<void> | undefined;
    while (settled !== this.#keeping) {
      settled = this.#keeping;
      await settled;
    }
  }

  async #keep(snapshot: MetricsSnapshot): Promise<void> {
    // prom-client names the types of metrics in a snapshot by words, although its declaration has numbers.
    const lasting = snapshot.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
    this.#retired = await AggregatorRegistry.aggregate([this.#retired, lasting]).getMetricsAsJSON();
  }
}
