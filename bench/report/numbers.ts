import type { Sample } from '../load.ts';
import type { Result, Series } from '../run.ts';

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}

/** The contender that all others are compared with. */
export const baseline = 'limit';

/** Requests per second relative to LIMIT in the same round, or to the first contender if LIMIT does not take part. */
export function ratio({ series }: Result, { samples }: Series): Spread | undefined {
  const base = series.find(({ contender }) => contender === baseline) ?? series[0];
  if (!base) return undefined;
  return spread(
    samples.map(({ perSecond }, round) => perSecond / (base.samples[round]?.perSecond ?? Number.NaN)),
  );
}

export function median({ samples }: Series, of: keyof Sample): number {
  return spread(samples.map((sample) => sample[of])).median;
}

export const ms = (value: number) =>
  Number.isNaN(value) ? '—' : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);

export function ratioText(found: Spread | undefined): string {
  return found ? `${found.median.toFixed(2)} (${found.min.toFixed(2)}–${found.max.toFixed(2)})` : '—';
}

/** The line that is printed for a contender after a workload. */
export function line(result: Result, series: Series): string {
  const at = (of: keyof Sample) => median(series, of);
  return [
    `  ${series.contender.padEnd(12)}`,
    ratioText(ratio(result, series)).padEnd(18),
    `${at('perSecond').toFixed(0).padStart(6)}/s`,
    `CPU ${ms(at('serverCpuMs'))} + ${ms(at('databaseCpuMs'))} ms`,
    `p50 ${ms(at('p50Ms'))} p99 ${ms(at('p99Ms'))} ms`,
    `${Math.round(at('bytes'))} B`,
    `${series.statements ?? '—'} SQL`,
    `${Math.round(at('residentMb'))} MB`,
    series.samples.some(({ failed }) => failed > 0) ? 'with failures' : '',
  ].join('  ');
}
