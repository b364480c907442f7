import { z } from 'zod';
import { dayMs } from '../model/times.ts';
import { UsageError } from './failures.ts';

/** Parses a flag that is a time or a number of days from now: in the future (`direction` 1) or in the past (-1). */
export function parseTimeFlag(flag: string, text: string, now: Date, direction: 1 | -1): Date {
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  if (days) return new Date(now.getTime() + direction * Number(days) * dayMs);
  const time = z.iso.datetime({ offset: true }).safeParse(text);
  if (time.success) return new Date(time.data);
  throw new UsageError(
    `${flag} must be a time with an offset or Z, such as 2027-01-31T00:00:00Z, or days such as 30d.`,
  );
}
