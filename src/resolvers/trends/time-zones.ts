import { LRUCache } from 'lru-cache';
import { dayMs } from '../../model/times.ts';

/** The most recently used zones, by their names in lower case: there are some 600 names. Making a format takes 0.2 ms. */
const zoneCache = new LRUCache<string, TimeZone>({ max: 600 });
/** The cache of a zone is emptied when it has more offsets. The periods of one statistic need far fewer. */
const maxOffsets = 5_000;

/** What a format with `longOffset` ends with: `GMT` for UTC, and seconds where the offset has some, as before 1970. */
const offsetText = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

/** The days of an IANA time zone, as points in time. */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat;
  readonly #offsets = new Map<number, number>();

  private constructor(format: Intl.DateTimeFormat) {
    this.#format = format;
  }

  /** The time zone with this name; undefined if there is none. */
  static named(name: string): TimeZone | undefined {
    // A fixed offset (+02:00) would be accepted, but names no zone.
    if (!/^[A-Za-z]/.test(name)) return undefined;
    const key = name.toLowerCase();
    const zone = zoneCache.get(key) ?? TimeZone.#make(name);
    if (zone) zoneCache.set(key, zone);
    return zone;
  }

  static #make(timeZone: string): TimeZone | undefined {
    try {
      return new TimeZone(new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' }));
    } catch {
      return undefined;
    }
  }

  /**
   * When a day begins; `midnightMs` is its midnight in UTC. Where clocks are put back over midnight, it is the first of
   * the two midnights. Where they are put forward over it, the day begins with the first minute that exists.
   */
  startOfDay(midnightMs: number): Date {
    const before = this.#offsetAt(midnightMs - dayMs);
    const after = this.#offsetAt(midnightMs + dayMs);
    if (before === after) return new Date(midnightMs - before);
    const [early, late] = [midnightMs - Math.max(before, after), midnightMs - Math.min(before, after)];
    for (const ms of [early, late]) if (ms + this.#offsetAt(ms) === midnightMs) return new Date(ms);
    return new Date(this.#firstAtOrAfter(midnightMs, early, late));
  }

  /** The first point in time after `earlierMs` whose local time is not before this one; `laterMs` is such a point. */
  #firstAtOrAfter(localMs: number, earlierMs: number, laterMs: number): number {
    let [before, after] = [earlierMs, laterMs];
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (middle + this.#offsetAt(middle) >= localMs) after = middle;
      else before = middle;
    }
    return after;
  }

  /** How far the zone's clocks are ahead of UTC. */
  #offsetAt(ms: number): number {
    const cached = this.#offsets.get(ms);
    if (cached !== undefined) return cached;
    const [, sign, hours, minutes, seconds] = offsetText.exec(this.#format.format(ms)) ?? [];
    const ahead = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60 + Number(seconds ?? 0);
    const offset = (sign === '-' ? -ahead : ahead) * 1_000;
    if (this.#offsets.size >= maxOffsets) this.#offsets.clear();
    this.#offsets.set(ms, offset);
    return offset;
  }
}
