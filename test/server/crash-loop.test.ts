import { describe, expect, it } from '@jest/globals';
import { CrashLoop } from '../../src/server/workers/crash-loop.ts';

describe('a crash loop', () => {
  it('ends the service at the fifth death within a minute that leaves no worker, and the pauses before double', () => {
    const crashes = new CrashLoop();
    const pauses = [0, 1, 2, 3, 4].map((second) => crashes.pauseAfterDeath(second * 1_000, false));
    expect(pauses).toEqual([0, 1_000, 2_000, 4_000, undefined]);
  });

  it('is not made of deaths that are further apart', () => {
    for (const isOneLeft of [true, false]) {
      const crashes = new CrashLoop();
      const pauses = Array.from({ length: 10 }, (_, minute) =>
        crashes.pauseAfterDeath(minute * 60_000, isOneLeft),
      );
      expect(pauses).toEqual(pauses.map(() => 0));
    }
  });

  it('goes on while a worker is left, with pauses of half a minute in the end', () => {
    const crashes = new CrashLoop();
    let nowMs = 0;
    const pauses = Array.from({ length: 12 }, () => {
      const pauseMs = crashes.pauseAfterDeath(nowMs, true) ?? Number.NaN;
      nowMs += pauseMs + 5_000;
      return pauseMs / 1_000;
    });
    expect(pauses).toEqual([0, 1, 2, 4, 8, 16, 30, 30, 30, 30, 30, 30]);
    // The death of the last worker is counted separately.
    expect(crashes.pauseAfterDeath(nowMs, false)).toBe(0);
  });
});
