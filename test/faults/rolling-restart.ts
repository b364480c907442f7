import { runFault } from './support/fault.ts';
import { rollingRestarts } from './support/rolling-restarts.ts';

await runFault(import.meta.filename, {
  fault: 'SIGTERM under load, two instances behind haproxy, rolling restarts',
  pass: '0 failed requests; `/readyz` 503 first, in-flight work finishes, exit ≤ 10 s',
  amount: { unit: 'restarts', short: 4, long: 50 },
  needs: ['haproxy'],
  run: (trial) => rollingRestarts(trial),
});
