import { runFault } from './support/fault.ts';
import { rollingRestarts } from './support/rolling-restarts.ts';

await runFault(import.meta.filename, {
  fault: 'the same with 1,000 streams, which come back when `retry` says so, and a webhook',
  pass: 'each stream and the webhook are told everything once and in order; all streams back ≤ 3 s; exit ≤ 10 s',
  amount: { unit: 'restarts', short: 4, long: 50 },
  needs: ['haproxy'],
  run: (trial) => rollingRestarts(trial, 1_000),
});
