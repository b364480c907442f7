import { sql } from 'kysely';
import type { UnscopedTrx } from '../engine/transaction.ts';
import { faultyIssues, type Rule, type Restriction } from './rule.ts';

// Numbers the sub-issues from 1, so that a parent takes four bytes. An issue without a parent has no number, since no
// cycle passes through it. The numbers stay the same within one snapshot.
const numbered = `
  with numbered as materialized (
    select workspace_id, id, parent_issue_id, row_number() over (order by workspace_id, id)::int as number
    from issue where parent_issue_id is not null
  )`;

/**
 * Reads one value with the parent of every sub-issue, and finds cycles in memory. A recursive query would take as many
 * rounds as the deepest issue has ancestors, and would read the whole table in each.
 */
export const cycleRule: Rule = {
  name: 'no issue is its own ancestor',
  statement: async (trx, within) => {
    const numbers = findCycles(await selectParents(trx, within));
    const faulty = faultyIssues(
      `'it is among its own ancestors'`,
      `join numbered n on n.workspace_id = i.workspace_id and n.id = i.id
       where n.number = any(array[${numbers.join()}]::int[])`,
    );
    return { sql: `${numbered} ${faulty}`, unlisted: 0 };
  },
};

/** Reads the number of the parent of each sub-issue, by the number of the sub-issue; 0 where the parent has none. */
async function selectParents(trx: UnscopedTrx, within: Restriction): Promise<Int32Array> {
  const statement = `${numbered}
    select string_agg(int4send(coalesce(p.number, 0)), ''::bytea order by c.number) as parents
    from numbered c left join numbered p on p.workspace_id = c.workspace_id and p.id = c.parent_issue_id`;
  const { rows } = await sql.raw<{ parents: Uint8Array | null }>(within(statement)).execute(trx);
  const bytes = rows[0]?.parents ?? new Uint8Array();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parents = new Int32Array(1 + bytes.byteLength / 4);
  for (let number = 1; number < parents.length; number += 1)
    parents[number] = view.getInt32((number - 1) * 4);
  return parents;
}

/** Finds the numbers that are on a cycle of parents, in time linear in their count. */
export function findCycles(parents: Int32Array): number[] {
  const found: number[] = [];
  /** The start of the walk that visited each number first. */
  const visited = new Int32Array(parents.length);
  for (let start = 1; start < parents.length; start += 1) {
    let number = start;
    while (number > 0 && visited[number] === 0) {
      visited[number] = start;
      number = parents[number] ?? 0;
    }
    if (number === 0 || visited[number] !== start) continue;
    const first = number;
    do {
      found.push(number);
      number = parents[number] ?? 0;
    } while (number !== first);
  }
  return found;
}
