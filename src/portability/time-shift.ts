import { dayMs } from '../model/times.ts';

/** Dates, and times in UTC, anywhere in a text. */
const times = /(?<![\w-])\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z)?(?![\w-])/g;

/**
 * Returns a function that shifts the dates and times in a text, so that they relate to `nowUtc` as they did to `referenceUtc`.
 * They are shifted by whole days and keep their time of day. Only a time on the day of `referenceUtc` keeps its exact distance,
 * so that an event of a few minutes before it remains so. Dates that do not exist are not changed.
 */
export function timeShift(referenceUtc: Date, nowUtc: Date): (text: string) => string {
  const referenceMs = referenceUtc.getTime();
  const midnightMs = startOfDay(referenceMs);
  const exactMs = nowUtc.getTime() - referenceMs;
  const daysMs = startOfDay(nowUtc.getTime()) - midnightMs;
  return (text) =>
    text.replaceAll(times, (time) => {
      const ms = Date.parse(time);
      if (Number.isNaN(ms)) return time;
      const isRecent = midnightMs < ms && ms <= referenceMs;
      const moved = new Date(ms + (isRecent ? exactMs : daysMs)).toISOString();
      return time.includes('T') ? moved : moved.slice(0, time.length);
    });
}

function startOfDay(ms: number): number {
  return Math.floor(ms / dayMs) * dayMs;
}
