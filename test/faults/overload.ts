import { runFault } from './support/fault.ts';
import { overload } from './support/overload.ts';

await runFault(import.meta.filename, {
  fault: '10× overload',
  pass: 'goodput ≥ 90 % of peak, p99 of accepted ≤ 2× normal, the rest 429/503 ≤ 50 ms, memory bounded, normal ≤ 5 s after',
  amount: { unit: 's', short: 8, long: 180 },
  run: (trial) => overload(trial),
});
