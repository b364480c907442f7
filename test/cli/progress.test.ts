import { stripVTControlCharacters } from 'node:util';
import { afterEach, expect, it, jest } from '@jest/globals';
import { Progress } from '../../src/cli/progress.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

/** What is shown after so many seconds, when 50 of 200 issues are done. */
function shownAfter(seconds: number, { isTty = true, columns = 100 } = {}): string {
  let output = '';
  const clock = jest.spyOn(performance, 'now').mockReturnValue(10_000);
  const screen = { stderr: (text: string) => void (output += text), isTty, columns };
  const progress = new Progress(screen, { total: 200, unit: 'issue' });
  clock.mockReturnValue(10_000 + seconds * 1_000);
  progress.update(50);
  const shown = output;
  progress.end();
  return shown;
}

it('the progress bar shows how much is done, how fast, and the remaining time', () => {
  expect(stripVTControlCharacters(shownAfter(4))).toContain(
    '[########----------------------]  25%  50 issues  13/s  12 s left',
  );
  expect(stripVTControlCharacters(shownAfter(40))).toContain('50 issues  1.3/s  2 min 0 s left');
});

it('the progress bar shows no remaining time within the first second, whose rate predicts little', () => {
  expect(stripVTControlCharacters(shownAfter(0.9))).toMatch(/25% {2}50 issues {2}56\/s$/);
});

it('the progress bar keeps to the width of the terminal', () => {
  expect(stripVTControlCharacters(shownAfter(4, { columns: 20 }))).toBe(' 25%  50 issues  13');
});

it('the progress bar is not shown without a terminal', () => {
  expect(shownAfter(4, { isTty: false })).toBe('');
});
