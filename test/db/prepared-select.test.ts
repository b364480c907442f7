import { expect, it } from '@jest/globals';
import { type PreparedSelect, StatementsByForm } from '../../src/db/query/prepared-select.ts';
import type { StatementTarget } from '../../src/db/engine/statement-target.ts';

it('the statements of the forms that were used last are remembered, and no others', async () => {
  let created = 0;
  const statements = new StatementsByForm<number, never>(() => {
    created += 1;
    return { send: async () => [] } as unknown as PreparedSelect<never>;
  });
  const sendAll = async (forms: number) => {
    created = 0;
    for (let form = 0; form < forms; form += 1) await statements.send({} as StatementTarget, form, {});
    return created;
  };
  expect([await sendAll(100), await sendAll(100)]).toEqual([100, 0]);
  await sendAll(10_000);
  expect(await sendAll(10_000)).toBeGreaterThan(9_000);
});
