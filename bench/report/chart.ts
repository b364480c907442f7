import { contenders } from '../contenders/all.ts';
import type { Result } from '../run.ts';
import { ratio, type Spread, baseline } from './numbers.ts';

const colors: Readonly<Record<string, string>> = {
  product: '#5e6ad2',
  postgraphile: '#26b5ce',
  mercurius: '#e0a100',
  plain: '#8d96a0',
  sofa: '#bb87fc',
};
const left = 110;
const width = 860;
const barHeight = 12;
const gap = 12;
const top = 58;

interface Bar {
  readonly name: string;
  readonly ratio: Spread;
}

/**
 * A chart of requests per second relative to LIMIT, which is the line at 1. The whiskers reach from the worst to the
 * best round.
 */
export function chart(results: readonly Result[]): string {
  const groups = results
    .map((result) => ({ id: result.workload.id, bars: barsOf(result) }))
    .filter(({ bars }) => bars.length > 0);
  const most = Math.max(1.2, ...groups.flatMap(({ bars }) => bars.map(({ ratio }) => ratio.max)));
  const x = (value: number) => left + (value / most) * (width - left - 60);
  let y = top;
  const parts: string[] = [];
  for (const { id, bars } of groups) {
    const middle = y + (bars.length * barHeight) / 2 + 4;
    parts.push(`<text x="${left - 10}" y="${middle}" text-anchor="end" font-weight="600">${id}</text>`);
    for (const bar of bars) {
      parts.push(drawn(bar, y, x));
      y += barHeight;
    }
    y += gap;
  }
  const height = y + 24;
  const ticks = Array.from({ length: Math.floor(most * 2) + 1 }, (_, index) => index / 2).map(
    (value) =>
      `<line x1="${x(value)}" x2="${x(value)}" y1="${top - 6}" y2="${y - 4}" stroke="${value === 1 ? '#d1242f' : '#d8dee4'}"/>` +
      `<text x="${x(value)}" y="${y + 12}" text-anchor="middle" fill="#57606a">${value}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="11" role="img" aria-label="Requests per second relative to LIMIT">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="${left}" y="20" font-size="14" font-weight="600" fill="#24292f">Requests per second relative to LIMIT (the red line)</text>
${legend(groups.flatMap(({ bars }) => bars.map(({ name }) => name)))}
${ticks.join('\n')}
${parts.join('\n')}
</svg>
`;
}

function barsOf(result: Result): Bar[] {
  return result.series.flatMap((series) => {
    const found = series.contender === baseline ? undefined : ratio(result, series);
    return found ? [{ name: series.contender, ratio: found }] : [];
  });
}

function drawn({ name, ratio: { median, min, max } }: Bar, y: number, x: (value: number) => number): string {
  const middle = y + barHeight / 2 - 1;
  return (
    `<rect x="${left}" y="${y}" width="${x(median) - left}" height="${barHeight - 2}" fill="${colors[name] ?? '#333'}"/>` +
    `<line x1="${x(min)}" x2="${x(max)}" y1="${middle}" y2="${middle}" stroke="#24292f"/>` +
    `<text x="${x(max) + 5}" y="${y + barHeight - 3}" fill="#24292f" font-size="10">${median.toFixed(2)}</text>`
  );
}

function legend(names: readonly string[]): string {
  let at = left;
  return contenders
    .filter(({ name }) => names.includes(name))
    .map(({ name, title }) => {
      const entry =
        `<rect x="${at}" y="30" width="10" height="10" fill="${colors[name] ?? '#333'}"/>` +
        `<text x="${at + 14}" y="39" fill="#24292f">${title.replaceAll('&', '&amp;')}</text>`;
      at += 34 + title.length * 6;
      return entry;
    })
    .join('\n');
}
