import type { Database } from '../../src/db/engine/engine.ts';
import { verifyDatabase } from '../../src/portability/verify.ts';

/** The rules that the rows of a database break, each with what breaks it; none when all is well. */
export async function brokenInvariants(database: Database): Promise<Record<string, string[]>> {
  const { findings } = await verifyDatabase(database, { limit: 5 });
  return Object.fromEntries(
    findings.map(({ rule, rows }) => [rule, rows.map(({ key, detail }) => `${key}: ${detail}`)]),
  );
}
