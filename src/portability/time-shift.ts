const dayMs = 24 * 60 * 60 * 1000;

/** Dates, and times in UTC, wherever they stand in a text. */
const moments = /(?<![\w-])\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z)?(?![\w-])/g;

/**
 * Gives a function that moves the dates and times of a text, so that what was written as seen from `referenceUtc` is
 * seen from `nowUtc`. They move by whole days and keep their time of day; only a time of the reference's own day keeps
 * its distance, so that what was minutes ago still is. Dates that no calendar has stay as they are.
 */
export function timeShift(referenceUtc: Date, nowUtc: Date): (text: string) => string {
  const referenceMs = referenceUtc.getTime();
  const midnightMs = startOfDay(referenceMs);
  const exactMs = nowUtc.getTime() - referenceMs;
  const daysMs = startOfDay(nowUtc.getTime()) - midnightMs;
  return (text) =>
    text.replaceAll(moments, (moment) => {
      const ms = Date.parse(moment);
      if (Number.isNaN(ms)) return moment;
      const isRecent = midnightMs < ms && ms <= referenceMs;
      const moved = new Date(ms + (isRecent ? exactMs : daysMs)).toISOString();
      return moment.includes('T') ? moved : moved.slice(0, moment.length);
    });
}

function startOfDay(ms: number): number {
  return Math.floor(ms / dayMs) * dayMs;
}
