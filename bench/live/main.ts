import { parseArgs } from 'node:util';
import { fanOut } from './fan-out.ts';
import { filters } from './filters.ts';
import { lag } from './lag.ts';
import type { Section } from './section.ts';
import { type Engine, startDemoServer } from './demo-server.ts';
import { streams } from './streams.ts';
import { webhooks } from './webhooks.ts';

// `npm run bench -- --live [SECTION…]`: the cost of streams, live lists and webhooks, and the delay of a change.

const sections: readonly Section[] = [lag, streams, fanOut, filters, webhooks];
const engines: readonly Engine[] = ['postgres', 'embedded'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { live: { type: 'boolean' }, engine: { type: 'string' }, scale: { type: 'string', default: '1' } },
});
const unknown = positionals.filter((name) => !sections.some((section) => section.name === name));
const engine = engines.find((name) => name === values.engine);
if (unknown.length > 0 || (values.engine !== undefined && !engine)) {
  process.stderr.write(
    `npm run bench -- --live [${sections.map(({ name }) => name).join('|')}…] [--engine ${engines.join('|')}] [--scale 0.1]\n`,
  );
  process.exit(2);
}
const chosen = sections.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
let missed = 0;
for (const section of chosen) {
  for (const each of engine ? [engine] : section.engines) {
    const server = await startDemoServer(each, section.settings);
    try {
      for (const { what, value, bound, unit, atLeast = false } of await section.measure(
        server,
        Number(values.scale),
      )) {
        const isMet = bound === undefined || (atLeast ? value >= bound : value <= bound);
        if (!isMet) missed += 1;
        const wanted =
          bound === undefined
            ? ''
            : ` (${isMet ? 'met' : 'MISSED'}: ${atLeast ? 'at least' : 'at most'} ${bound})`;
        console.log(`${section.name} on ${each}: ${what}: ${rounded(value)} ${unit}${wanted}`);
      }
    } finally {
      await server.stop();
    }
  }
}
if (missed > 0) {
  console.log(`${missed} missed`);
  process.exitCode = 1;
}

function rounded(value: number): string {
  return value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1);
}
