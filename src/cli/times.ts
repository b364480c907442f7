import { z } from 'zod';
import { UsageError } from './failures.ts';

/** A moment as a person writes it: a time, or days from now, `direction` 1 for those to come and -1 for those gone. */
export function timeOf(flag: string, text: string, now: Date, direction: 1 | -1): Date {
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  if (days) return new Date(now.getTime() + direction * Number(days) * 86_400_000);
  const time = z.iso.datetime({ offset: true }).safeParse(text);
  if (time.success) return new Date(time.data);
  throw new UsageError(
    `${flag} must be a time with an offset or Z, such as 2027-01-31T00:00:00Z, or days such as 30d.`,
  );
}
