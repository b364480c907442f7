import { openDatabase } from '../../src/db/engine/engine.ts';
import { choresOf, tidy } from '../../src/server/janitor.ts';
import { Webhooks } from '../../src/server/webhooks.ts';
import { openStorage } from '../../src/storage/open-storage.ts';

/** How far in the future the janitor believes to be, so that everything the suites have left is old enough for it. */
const laterMs = 100 * 86_400_000;
const changesDays = 30;

/** Does all chores of the janitor once on a distributed database, and returns what it would warn of. */
export async function tidyDistributed(url: string, dataDir: string): Promise<string[]> {
  const database = await openDatabase({ url });
  const warnings: string[] = [];
  const logger = {
    info: () => undefined,
    warn: (failure: unknown, message?: string) =>
      warnings.push(`${message}: ${(failure as { err: Error }).err.message}`),
  };
  try {
    const store = openStorage({ dataDir, storageUrl: undefined });
    // Only with several keys are there secrets to encrypt again.
    const webhooks = new Webhooks({ signingKeys: ['n'.repeat(32), 'o'.repeat(32)] });
    await tidy(
      choresOf({ database, store, changesDays, additionalChores: webhooks.choresOf(database) }),
      logger,
      () => false,
      new Date(Date.now() + laterMs),
    );
  } finally {
    await database.close();
  }
  return warnings;
}
