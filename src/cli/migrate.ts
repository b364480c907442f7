import { defineCommand } from 'citty';
import { locationArgs } from './environment.ts';
import { refuseWrongArguments, reportFailure } from './failures.ts';

/**
 * Not a `databaseCommand`, because those require a database that is up to date. A running server's database always is.
 */
export const command = defineCommand({
  meta: {
    name: 'migrate',
    description: 'Bring the database up to date; nothing else changes an external one',
  },
  args: locationArgs,
  async run({ args }) {
    process.exitCode = await reportFailure(async () => {
      refuseWrongArguments(args, locationArgs);
      const { locationOf, migrateLocation } = await import('./location.ts');
      const { readConfig } = await import('../server/config.ts');
      const applied = await migrateLocation(readConfig(locationOf(args)), (text) =>
        process.stderr.write(text),
      );
      process.stderr.write(
        applied.length > 0 ? 'The database is up to date now.\n' : 'The database was already up to date.\n',
      );
      return 0;
    });
  },
});
