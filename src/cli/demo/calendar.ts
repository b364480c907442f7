import type { Random } from './random.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** The two-week rhythm of deliveries counts from the first Monday of Unix time. */
const firstMondayMs = 4 * dayMs;

/**
 * The demo's time. All of it hangs from the day's midnight in UTC, so that a day gives one workspace; only what
 * must be minutes old (a conversation that an agent is busy with) hangs from `nowMs`.
 */
export class Calendar {
  readonly nowMs: number;
  readonly todayMs: number;
  /** The last moment at which something may have happened that hangs from the day. */
  readonly untilMs: number;

  constructor(now: Date) {
    this.nowMs = now.getTime();
    this.todayMs = Math.floor(this.nowMs / dayMs) * dayMs;
    this.untilMs = this.todayMs - hourMs;
  }

  daysAgo(days: number): number {
    return this.todayMs - Math.round(days * dayMs);
  }
}

/** The first moment from this one on at which people work: Monday to Friday, 7 to 17 o'clock UTC. */
export function workingTime(ms: number, random: Random): number {
  const latenessMs = random.integer(0, 150 * minuteMs);
  const time = new Date(ms);
  const weekday = time.getUTCDay();
  const hour = time.getUTCHours();
  if (weekday >= 1 && weekday <= 5 && hour >= 7 && hour < 17) return Math.floor(ms);
  let morningMs = Math.floor(ms / dayMs) * dayMs + 7 * hourMs;
  while (morningMs < ms || isWeekend(morningMs)) morningMs += dayMs;
  return morningMs + latenessMs;
}

/** A working moment so many hours after another. */
export function later(ms: number, random: Random, fromHours: number, toHours: number): number {
  const gapMs = (fromHours + (toHours - fromHours) * random.fraction() ** 1.6) * hourMs;
  return workingTime(ms + Math.max(gapMs, minuteMs), random);
}

export function isoDate(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The Monday on which the two weeks that hold the moment began; teams may be a week apart. */
export function cycleStartMs(ms: number, offsetWeeks: 0 | 1): number {
  const originMs = firstMondayMs + offsetWeeks * 7 * dayMs;
  return originMs + Math.floor((ms - originMs) / (14 * dayMs)) * 14 * dayMs;
}

function isWeekend(ms: number): boolean {
  const weekday = new Date(ms).getUTCDay();
  return weekday === 0 || weekday === 6;
}
