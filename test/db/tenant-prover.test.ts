import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { unboundIn } from '../support/tenant-prover/bound-rule.ts';
import { proved, loose, refusedTable, ws } from './proved.ts';

/** Raw statements, with the tenant table that they name, if any. */
const raw: [statement: ReturnType<typeof sql>, table: string | undefined][] = [
  [sql`select 1`, undefined],
  [sql`select pg_advisory_xact_lock(${1})`, undefined],
  [sql`select * from unnest(${[1]}::int[]) with ordinality as x(a, b)`, undefined],
  [sql`select substring(name from 1) from user_account`, undefined],
  [sql`select 1 -- from issue`, undefined],
  [sql`select * from issue`, 'issue'],
  [sql`SELECT * FROM Issue`, 'Issue'],
  [sql`select * from "issue"`, 'issue'],
  [sql`select * from public.issue_link as l`, 'issue_link'],
  [sql`select * from only issue`, 'issue'],
  [sql`select * from (issue cross join team)`, 'issue'],
  [sql`select * from /* here */ issue`, 'issue'],
  [sql`select * from user_account, issue`, 'issue'],
  [sql`select * from unnest(array[1, 2]) as x(a), issue`, 'issue'],
  [sql`select * from user_account u left join issue i on true`, 'issue'],
  [sql`select exists (select from issue)`, 'issue'],
  [sql`update issue set title = ''`, 'issue'],
  [sql`insert into issue select 1`, 'issue'],
  [sql`delete from user_account using issue`, 'issue'],
  [sql`table issue`, 'issue'],
  [sql`truncate issue`, 'issue'],
  [sql`select * from ${sql.table('issue')}`, 'issue'],
  [sql`select * from ${sql.id('public', 'issue')}`, 'issue'],
  [sql`select * from ${sql.ref('issue')}`, 'issue'],
  [sql`select * from ${sql.raw('issue')}`, 'issue'],
  [sql`select * ${sql`from ${sql`issue`}`}`, 'issue'],
];

describe('the tenant prover', () => {
  it.each(raw)('reads the raw statement %#', (statement, table) => {
    expect(refusedTable(() => ({ compile: () => statement.compile(proved) }))).toBe(table);
  });

  it('reads a query in its scope: the same node is bound in one scope and not in another', () => {
    const inner = () =>
      loose
        .selectFrom('issue as i')
        .select('i.id')
        .where((eb) => {
          const shared = eb
            .selectFrom('comment as c')
            .select('c.id')
            .whereRef('c.workspaceId', '=', 't.workspaceId');
          const bound = eb
            .selectFrom('team as t')
            .select('t.id')
            .where('t.workspaceId', '=', ws)
            .where(eb.exists(shared));
          const free = eb.selectFrom('userAccount as t').select('t.id').where(eb.exists(shared));
          return eb.and([eb('i.workspaceId', '=', ws), eb.exists(bound), eb.exists(free)]);
        });
    expect(refusedTable(inner)).toBe('comment');
  });

  it('names the reference and the missing condition', () => {
    const unbound = () => loose.selectFrom('issueLink as l').selectAll().compile();
    expect(unbound).toThrow(`"issueLink" as "l" is not bound: add .where('l.workspaceId', '=', workspaceId)`);
  });

  it('costs microseconds on a large statement', () => {
    let query = loose.selectFrom('issue as i0').select('i0.id').where('i0.workspaceId', '=', ws);
    for (let at = 1; at <= 200; at += 1) {
      query = query.innerJoin(`issue as i${at}`, `i${at}.workspaceId`, `i${at - 1}.workspaceId`);
    }
    const node = query.toOperationNode();
    // Processor time: other processes may have the processor meanwhile.
    const before = process.threadCpuUsage();
    unboundIn(node);
    const { user, system } = process.threadCpuUsage(before);
    expect(user + system).toBeLessThan(100_000);
  });
});
