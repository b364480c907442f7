import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { parse } from 'graphql';
import { AdmissionTicket } from '../../src/server/limits/admission.ts';
import { FirstPieces } from '../../src/server/limits/first-pieces.ts';
import { startApp } from '../support/app.ts';

const numbers = Array.from({ length: 100 }, (_, index) => index);

it.each([
  [
    'are refused',
    `query (${numbers.map((n) => `$v${n}: Int`).join(' ')}) { ${numbers.map((n) => `a${n}: teams(first: $v${n}) @skip(if: true) { totalCount }`).join(' ')} }`,
    Object.fromEntries(numbers.map((n) => [`v${n}`, 'a text'])),
  ],
  // Each field fails before it reads anything.
  ['fail', `{ ${numbers.map((n) => `a${n}: node(id: "issue_x${n}") { id }`).join(' ')} }`, {}],
  [
    'fail for the most part and read one row',
    `{ ${numbers.map((n) => `a${n}: node(id: "issue_x${n}") { id }`).join(' ')} issues(first: 1) { nodes { key } } }`,
    {},
  ],
])(
  'operations that %s take turns when those of their caller have taken long',
  async (_, query, variables) => {
    const app = await startApp({ sharesDatabase: true });
    const turn = jest.spyOn(AdmissionTicket.prototype, 'turn');
    try {
      const takesTurn = async (token: string) => {
        turn.mockClear();
        const { body } = await app.graphql(query, variables, { token });
        expect(body.errors).toBeDefined();
        return turn.mock.calls.length > 0;
      };
      const other = await app.tokenFor({ role: 'member' });
      // A document is cached when it is sent for the second time.
      for (let sent = 0; sent < 3; sent += 1) await takesTurn(app.token);
      let sent = 0;
      while (!(await takesTurn(app.token)) && sent < 1_000) sent += 1;
      expect(sent).toBeLessThan(1_000);
      expect(await takesTurn(other)).toBe(false);
    } finally {
      turn.mockRestore();
      await app.stop();
    }
  },
);

describe('first pieces of operations', () => {
  const document = parse('{ teams { totalCount } }');
  const busyFor = (ms: number) => () => {
    jest.advanceTimersByTime(ms);
    return Promise.resolve();
  };

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'clearImmediate'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  async function measure(pieces: FirstPieces, run: () => Promise<unknown>): Promise<void> {
    await pieces.measure('a', document, run);
    await nextTurn();
  }

  it('make operations take turns, as large as the pieces are long, after a tenth of a second in ten', async () => {
    const pieces = new FirstPieces();
    await measure(pieces, busyFor(98));
    expect(pieces.turnOf('a', document)).toBeUndefined();
    await measure(pieces, busyFor(3));
    expect(pieces.turnOf('a', document)).toBe(3_072);
    expect(pieces.turnOf('b', document)).toBeUndefined();
    jest.advanceTimersByTime(10_001);
    expect(pieces.turnOf('a', document)).toBeUndefined();
  });

  it('need no turns if they are short, however many there are', async () => {
    const pieces = new FirstPieces();
    const now = jest.spyOn(performance, 'now');
    let elapsedMs = 0;
    now.mockImplementation(() => (elapsedMs += 0.4));
    for (let sent = 0; sent < 1_000; sent += 1) await measure(pieces, () => Promise.resolve());
    now.mockRestore();
    expect(pieces.turnOf('a', document)).toBeUndefined();
  });

  it('end when the operation waits', async () => {
    const pieces = new FirstPieces();
    await measure(pieces, async () => {
      jest.advanceTimersByTime(60);
      await nextTurn();
      jest.advanceTimersByTime(200);
    });
    expect(pieces.turnOf('a', document)).toBeUndefined();
    await measure(pieces, busyFor(60));
    expect(pieces.turnOf('a', document)).toBe(61_440);
  });

  it('make only operations wait whose last one was long', async () => {
    const pieces = new FirstPieces();
    await measure(pieces, busyFor(200));
    expect(pieces.turnOf('a', parse('{ viewer { id } }'))).toBeUndefined();
    await measure(pieces, busyFor(0));
    expect(pieces.turnOf('a', document)).toBeUndefined();
  });
});
