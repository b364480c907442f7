import type { Quotas } from './rate-limit.ts';

/** How many requests one caller may send, and how much they may cost. */
export interface RateSettings {
  readonly requestsPerMinute: number;
  readonly costPerHour: number;
}

/** The quotas of these settings. */
export function quotasOf({ requestsPerMinute, costPerHour }: RateSettings): Quotas {
  return {
    requests: { name: 'requests', limit: requestsPerMinute, windowSeconds: 60 },
    cost: { name: 'cost', limit: costPerHour, windowSeconds: 3_600 },
  };
}
