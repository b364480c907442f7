import { sql } from 'kysely';
import { selectCitusVersion } from '../distribution.ts';
import type { UnscopedTrx } from '../engine/transaction.ts';
import { changeRules } from './change-rules.ts';
import { directoryRules } from './directory-rules.ts';
import { feedRules } from './feed-rules.ts';
import { foldRules } from './fold-rules.ts';
import { issueRules } from './issue-rules.ts';
import { numberRules } from './number-rules.ts';
import { referenceRules } from './references.ts';
import { type Rule, type RuleCodes, unrestricted, withinWorkspace } from './rule.ts';
import { stageRules } from './stage-rules.ts';
import { tallyRules } from './tally-rules.ts';

/** A row that violates a rule. */
export interface FaultyRow {
  readonly workspaceId: string | null;
  /** A human-readable name of the row: `ENG-42`, or a table and an id. */
  readonly key: string;
  readonly detail: string;
}

/** The number of rows that violate a rule, and the first of them. */
export interface FaultyRows {
  total: number;
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
    ...(await foldRules(trx)),
    ...(await referenceRules(trx)),
  ];
}

/** The rows that are checked: all at once, or those of one workspace after the other. */
export type Extent = 'all' | readonly string[];

/**
 * All rows, so that many workspaces take no more statements than one. A distributed database is checked by workspace, because it
 * then sends each statement to one node.
 */
export async function selectExtent(trx: UnscopedTrx): Promise<Extent> {
  if ((await selectCitusVersion(trx)) === undefined) return 'all';
  const rows = await trx.selectFrom('workspace').select('workspaceId').orderBy('workspaceId').execute();
  return rows.map(({ workspaceId }) => workspaceId);
}

/** Selects the rows that violate a rule. */
export async function selectFaulty(
  trx: UnscopedTrx,
  { statement, checksAllWorkspaces = false }: Rule,
  limit: number,
  extent: Extent,
): Promise<FaultyRows> {
  const restrictions = extent === 'all' || checksAllWorkspaces ? [unrestricted] : extent.map(withinWorkspace);
  const all: FaultyRows = { total: 0, rows: [] };
  for (const within of restrictions) {
    const selection =
      typeof statement === 'string' ? { sql: statement, unlisted: 0 } : await statement(trx, within, limit);
    const { total, rows } = await selectFirst(trx, within(selection.sql), limit);
    all.total += total + selection.unlisted;
    all.rows.push(...rows.slice(0, limit - all.rows.length));
  }
  return all;
}

async function selectFirst(trx: UnscopedTrx, faulty: string, limit: number): Promise<FaultyRows> {
  const { rows } = await sql<FaultyRow & { total: number }>`
    select count(*) over () as total, workspace_id, key, detail from (${sql.raw(faulty)}) faulty
    order by workspace_id, key, detail limit ${limit}`.execute(trx);
  const [first] = rows;
  return {
    total: first?.total ?? 0,
    rows: rows.map(({ workspaceId, key, detail }) => ({ workspaceId, key, detail })),
  };
}
