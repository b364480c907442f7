import { sql } from 'kysely';
import type { UnscopedTrx } from '../engine/transaction.ts';
import { changeRules } from './change-rules.ts';
import { directoryRules } from './directory-rules.ts';
import { feedRules } from './feed-rules.ts';
import { issueRules } from './issue-rules.ts';
import { numberRules } from './number-rules.ts';
import { referenceRules } from './references.ts';
import type { Rule, RuleCodes } from './rule.ts';
import { stageRules } from './stage-rules.ts';
import { tallyRules } from './tally-rules.ts';

/** A row that violates a rule. */
export interface FaultyRow {
  readonly workspaceId: string | null;
  /** A name of the row for people: `ENG-42`, or a table and an id. */
  readonly key: string;
  readonly detail: string;
}

/** The number of rows that violate a rule, and the first of them. */
export interface FaultyRows {
  readonly total: number;
  readonly rows: FaultyRow[];
}

/** All rules of this schema, including those that are derived from the catalog of the database. */
export async function selectRules(trx: UnscopedTrx, codes: RuleCodes): Promise<Rule[]> {
  return [
    ...numberRules,
    ...issueRules,
    ...stageRules,
    ...tallyRules,
    ...feedRules(),
    ...changeRules,
    ...directoryRules(codes),
    ...(await referenceRules(trx)),
  ];
}

/** Selects the rows that violate a rule. */
export async function selectFaulty(
  trx: UnscopedTrx,
  { statement }: Rule,
  limit: number,
): Promise<FaultyRows> {
  const faulty = typeof statement === 'string' ? statement : await statement(trx);
  const { rows } = await sql<FaultyRow & { total: number }>`
    select count(*) over () as total, workspace_id, key, detail from (${sql.raw(faulty)}) faulty
    order by workspace_id, key limit ${limit}`.execute(trx);
  const [first] = rows;
  return {
    total: first?.total ?? 0,
    rows: rows.map(({ workspaceId, key, detail }) => ({ workspaceId, key, detail })),
  };
}
