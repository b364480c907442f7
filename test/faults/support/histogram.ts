/** The counts of the server's own histogram of requests, by the upper bounds of its buckets in milliseconds. */
export class Latencies {
  readonly count: number;
  readonly #buckets: readonly (readonly [number, number])[];

  constructor(buckets: readonly (readonly [number, number])[]) {
    this.#buckets = buckets;
    this.count = buckets.at(-1)?.[1] ?? 0;
  }

  /** In milliseconds, interpolated within a bucket as Prometheus does; NaN if nothing was counted. */
  quantile(share: number): number {
    const rank = share * this.count;
    let [lower, below] = [0, 0];
    for (const [upper, upTo] of this.#buckets) {
      if (upTo >= rank && upTo > below) {
        if (!Number.isFinite(upper)) return lower;
        return lower + ((upper - lower) * (rank - below)) / (upTo - below);
      }
      [lower, below] = [upper, upTo];
    }
    return Number.NaN;
  }
}

/** The counts at one time, by the labels of each bucket. */
export type Counts = ReadonlyMap<string, number>;

const bucket = /^workgraph_request_duration_seconds_bucket\{([^}]*)\} (\d+)$/gm;

export async function readCounts(metricsUrl: string): Promise<Counts> {
  const text = await (await fetch(metricsUrl)).text();
  return new Map([...text.matchAll(bucket)].map(([, labels = '', count]) => [labels, Number(count)]));
}

/** The latencies between two times of the requests that have all these labels. */
export function latenciesBetween(
  before: Counts,
  after: Counts,
  wanted: Readonly<Record<string, string>>,
): Latencies {
  const sums = new Map<number, number>();
  for (const [labels, count] of after) {
    const labelValues = new Map(
      [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
    );
    if (Object.entries(wanted).some(([name, value]) => labelValues.get(name) !== value)) continue;
    const bound =
      labelValues.get('le') === '+Inf' ? Number.POSITIVE_INFINITY : Number(labelValues.get('le')) * 1_000;
    sums.set(bound, (sums.get(bound) ?? 0) + count - (before.get(labels) ?? 0));
  }
  return new Latencies([...sums].toSorted(([one], [other]) => one - other));
}
