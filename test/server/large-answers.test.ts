import { expect, it, jest } from '@jest/globals';
import { AdmissionTicket } from '../../src/server/limits/admission.ts';
import { isGraphqlJs } from '../support/chosen-executor.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';

const { app, world, ada } = useIssueWorld({});

const queryFor = (key: string, times: number) =>
  `{ ${Array.from({ length: times }, (_, index) => `a${index}: issue(key: "${key}") { description }`).join(' ')} }`;

(isGraphqlJs ? it.skip : it)(
  'a query waits for a turn to write an answer of more than 512 KiB, unless it holds a snapshot',
  async () => {
    const description = 'x'.repeat(100_000);
    const { key } = await ada.create({ teamId: world.eng.id, title: 'Long', description });
    const turn = jest.spyOn(AdmissionTicket.prototype, 'turn');
    const turnsFor = async (times: number, headers = {}) => {
      turn.mockClear();
      const { body } = await app.graphql(queryFor(key, times), {}, { headers });
      expect(Object.keys(body.data ?? {})).toHaveLength(times);
      return turn.mock.calls.map(([bytes]) => bytes);
    };
    try {
      for (const times of [5, 6]) for (let sent = 0; sent < 3; sent += 1) await turnsFor(times);
      expect(await turnsFor(5)).toEqual([]);
      const [bytes, ...more] = await turnsFor(6);
      expect(more).toEqual([]);
      expect(bytes).toBeGreaterThanOrEqual(60_000);
      expect(bytes).toBeLessThan(61_000);
      expect(await turnsFor(6, { 'x-workgraph-snapshot': 'true' })).toEqual([]);
    } finally {
      turn.mockRestore();
    }
  },
);
