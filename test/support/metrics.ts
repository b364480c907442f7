import type { App } from './app.ts';

/** All metrics of a server that has METRICS_ADDRESS, in Prometheus's text format. */
export async function metricsText({ metricsUrl }: Pick<App, 'metricsUrl'>): Promise<string> {
  return (await fetch(metricsUrl ?? '')).text();
}

/** The samples of a metric by their labels, as they are printed. */
export async function samplesOf(
  app: Pick<App, 'metricsUrl'>,
  name: string,
): Promise<ReadonlyMap<string, number>> {
  const lines = (await metricsText(app)).matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm);
  return new Map(
    Array.from(lines).flatMap(([, found, labels = '', value]) =>
      found === name ? [[labels, Number(value)] as const] : [],
    ),
  );
}

/** The only sample of a metric that has these labels; NaN if there is none. */
export async function sampleOf(app: Pick<App, 'metricsUrl'>, name: string, labels = ''): Promise<number> {
  return (await samplesOf(app, name)).get(labels) ?? Number.NaN;
}
