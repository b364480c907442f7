import { parseArgs } from 'node:util';
import { fill } from '../dataset/fill.ts';
import { checkShapes } from './shapes.ts';

// The check of shapes on an empty database of the caller's, without the peers of the benchmark: for CI.
const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    issues: { type: 'string', default: '100000' },
    'one-of': { type: 'string', default: '1' },
    shape: { type: 'string' },
  },
});
if (values.url === undefined) throw new Error('--url names the database.');
const say = (line: string) => process.stdout.write(`${line}\n`);
const issues = Number(values.issues);
await fill(values.url, { issues, isSkewed: true }, say);
const chosen = { isResumed: false, only: values.shape, oneOf: Number(values['one-of']) };
process.exitCode = (await checkShapes({ ...chosen, url: values.url, issues, say })) > 0 ? 1 : 0;
