import type { AdmissionLimits } from '../../src/server/limits/admission.ts';

/** Limits so high that a test does not overload its server by accident, however slow the machine is. */
export const generousAdmission: AdmissionLimits = {
  maxConcurrency: 1_000,
  queueWaitMs: 100_000,
  requestTimeoutMs: 100_000,
};
