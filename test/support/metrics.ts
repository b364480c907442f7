import type { App } from './app.ts';

/** All metrics of a server that has METRICS_ADDRESS, in Prometheus's text format. */
export async function metricsText({ metricsUrl }: Pick<App, 'metricsUrl'>): Promise<string> {
  return (await fetch(metricsUrl ?? '')).text();
}

/** The samples of a metric by their labels, as they are printed. Throws if there are none. */
export async function samplesOf(
  app: Pick<App, 'metricsUrl'>,
  name: string,
): Promise<ReadonlyMap<string, number>> {
  const lines = (await metricsText(app)).matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm);
  const samples = new Map(
    Array.from(lines).flatMap(([, found, labels = '', value]) =>
      found === name ? [[labels, Number(value)] as const] : [],
    ),
  );
  if (samples.size === 0) throw new Error(`The server has no metric ${name}.`);
  return samples;
}

/** The only sample of a metric that has these labels. Throws if there is none. */
export async function sampleOf(app: Pick<App, 'metricsUrl'>, name: string, labels = ''): Promise<number> {
  const samples = await samplesOf(app, name);
  const sample = samples.get(labels);
  if (sample === undefined)
    throw new Error(`${name} has the labels ${[...samples.keys()].join(' and ')}, but not ${labels}.`);
  return sample;
}
