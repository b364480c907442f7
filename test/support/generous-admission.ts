import type { AdmissionLimits } from '../../src/server/limits/admission.ts';

/** For servers that no test means to overload, however slow the machine is that it runs on. */
export const generousAdmission: AdmissionLimits = {
  maxConcurrency: 1_000,
  queueWaitMs: 100_000,
  requestTimeoutMs: 100_000,
};
