import { expect, it } from '@jest/globals';
import type { Candidate } from '../../src/db/query/walks/index-use.ts';
import { always } from '../../src/db/query/conditions/predicate.ts';
import type { ProbedCandidate } from '../../src/db/query/walks/candidate-probe.ts';
import { fewestMatches } from '../../src/db/reads/bounded-pages.ts';

const max = { rows: 20_000, links: 5_000, text: 7_000 };

function candidates(count: number): Candidate[] {
  return Array.from({ length: count }, () => ({
    condition: always,
    rest: always,
    kind: 'rows',
    order: undefined,
    isSelective: false,
  }));
}

async function probedOf(conditions: number): Promise<readonly ProbedCandidate[]> {
  let sent: readonly ProbedCandidate[] = [];
  await fewestMatches(candidates(conditions), max, (probed) => {
    sent = probed;
    return Promise.resolve(probed.map(() => 30_000));
  });
  return sent;
}

it('a bounded read counts each of four conditions up to its maximum', async () => {
  expect((await probedOf(4)).map((each) => each.max)).toEqual([20_000, 20_000, 20_000, 20_000]);
});

it.each([5, 9, 40])(
  'a bounded read counts no more entries for %d conditions than for four',
  async (conditions) => {
    const counted = (await probedOf(conditions)).reduce((sum, each) => sum + each.max, 0);
    expect(counted).toBeLessThanOrEqual(4 * max.rows);
  },
);

it('a bounded read uses the matches of the condition that has the fewest', async () => {
  const counts = [30_000, 900, 300, 12_000, 11_000];
  const best = await fewestMatches(candidates(5), max, () => Promise.resolve(counts));
  expect(best).toMatchObject({ count: 300, step: { read: 'few', candidate: 2 } });
});
