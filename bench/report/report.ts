import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { contenders } from '../contenders/all.ts';
import { connections } from '../load.ts';
import type { Facts } from '../facts.ts';
import type { Result, Series } from '../run.ts';
import { chart } from './chart.ts';
import { median, ms, ratio, ratioText, spread } from './numbers.ts';

export interface Report {
  readonly results: readonly Result[];
  readonly starts: ReadonlyMap<string, readonly number[]>;
  readonly facts: Facts;
  readonly rounds: number;
  readonly seconds: number;
  readonly postgres: string;
  readonly say: (line: string) => void;
}

const folder = join(import.meta.dirname, '..');

/** Writes RESULTS.md and the chart. */
export function writeReport(report: Report): void {
  writeFileSync(join(folder, 'results.svg'), chart(report.results));
  writeFileSync(
    join(folder, 'RESULTS.md'),
    [heading(report), ratios(report), details(report), starts(report)].join('\n'),
  );
  report.say('wrote bench/RESULTS.md and bench/results.svg');
}

const title = (name: string) => contenders.find((contender) => contender.name === name)?.title ?? name;

function heading({ facts, rounds, seconds, postgres }: Report): string {
  const [cpu] = cpus();
  return `# Results

Written by \`npm run bench\` on ${new Date().toISOString().slice(0, 10)}; how to read it: [README.md](README.md).
${cpus().length} × ${cpu?.model.trim() ?? 'CPU'}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}, PostgreSQL ${postgres};
${facts.issueCount.toLocaleString('en')} issues; ${connections} connections, ${rounds} rounds of ${seconds} s, in turns.

![Requests per second relative to LIMIT](results.svg)
`;
}

function ratios({ results }: Report): string {
  const names = namesOf(results);
  const rows = results.map((result) => {
    const cells = names.map((name) => {
      const series = seriesOf(result, name);
      return series ? ratioText(ratio(result, series)) : '—';
    });
    return `| **${result.workload.id}** ${result.workload.title} | ${cells.join(' | ')} |`;
  });
  return `## Requests per second relative to LIMIT
The median of the rounds, and the least and the most of them.

| | ${names.map(title).join(' | ')} |
|---|${names.map(() => '---|').join('')}
${rows.join('\n')}
`;
}

function details({ results }: Report): string {
  const rows = results.flatMap((result) =>
    result.series.map((series) => {
      const at = (of: Parameters<typeof median>[1]) => median(series, of);
      const cells = [
        title(series.contender),
        ratioText(ratio(result, series)),
        at('perSecond').toFixed(0),
        ms(at('serverCpuMs')),
        ms(at('databaseCpuMs')),
        ms(at('p50Ms')),
        ms(at('p99Ms')),
        Math.round(at('bytes')).toLocaleString('en'),
        series.statements === undefined ? '—' : String(Number(series.statements.toFixed(2))),
        at('residentMb').toFixed(0),
      ];
      return `| ${result.workload.id} | ${cells.join(' | ')} |`;
    }),
  );
  return `## In full
CPU and statements are per request; memory is that of the process at the end of its turn.

| | | ratio | requests/s | server CPU ms | database CPU ms | p50 ms | p99 ms | bytes | SQL | MB |
|---|---|---|---|---|---|---|---|---|---|---|
${rows.join('\n')}
`;
}

function starts({ starts }: Report): string {
  const rows = [...starts].map(([name, times]) => {
    const { median, min, max } = spread(times);
    return `| ${title(name)} | ${Math.round(median)} (${Math.round(min)}–${Math.round(max)}) |`;
  });
  return `## Cold start
Milliseconds from the start of the process to its first answer.

| | ms |
|---|---|
${rows.join('\n')}
`;
}

function namesOf(results: readonly Result[]): string[] {
  return [...new Set(results.flatMap(({ series }) => series.map(({ contender }) => contender)))];
}

function seriesOf({ series }: Result, name: string): Series | undefined {
  return series.find(({ contender }) => contender === name);
}
