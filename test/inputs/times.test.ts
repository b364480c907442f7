import { expect, it } from '@jest/globals';
import { parseDateTime } from '../../src/model/times.ts';

it('a time between two milliseconds is told apart from them in JSON, by which requests are found equal', () => {
  const times = ['2026-11-27T06:00:00.849Z', '2026-11-27T06:00:00.849000001Z', '2026-11-27T06:00:00.850Z'];
  const texts = times.map((time) => JSON.stringify(parseDateTime(time)));
  expect(new Set(texts).size).toBe(3);
});
