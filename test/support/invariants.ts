import type { Database } from '../../src/db/engine/engine.ts';
import { verifyDatabase } from '../../src/portability/verify.ts';

/** Returns the consistency rules that the database breaks, each with the offending rows. */
export async function brokenInvariants(database: Database): Promise<Record<string, string[]>> {
  const { findings } = await verifyDatabase(database, { limit: 5 });
  return Object.fromEntries(
    findings.map(({ rule, rows }) => [rule, rows.map(({ key, detail }) => `${key}: ${detail}`)]),
  );
}
