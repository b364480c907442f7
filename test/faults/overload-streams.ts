import { runFault } from './support/fault.ts';
import { overload } from './support/overload.ts';

await runFault(import.meta.filename, {
  fault: '10× overload beside 5,000 streams, which are told of a change every five seconds',
  pass: 'as without them: goodput ≥ 90 % of the peak, which is measured before they are opened; streams may be late, none is cut, each is told everything',
  amount: { unit: 's', short: 8, long: 60 },
  run: (trial) => overload(trial, { streams: 5_000, changeEveryMs: 5_000 }),
});
