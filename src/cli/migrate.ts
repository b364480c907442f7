import { defineCommand } from 'citty';
import { locationArgs } from './environment.ts';
import { refuseUnknownArguments, reportFailure } from './failures.ts';

/** Not a `databaseCommand`: those ask for a database that is up to date, and a server that runs has one. */
export const command = defineCommand({
  meta: {
    name: 'migrate',
    description: 'Bring the database up to date; an external one is changed by nothing else',
  },
  args: locationArgs,
  async run({ args }) {
    process.exitCode = await reportFailure(async () => {
      refuseUnknownArguments(args, locationArgs);
      const { locationOf, migrateLocation } = await import('./location.ts');
      const { readConfig } = await import('../server/config.ts');
      const applied = await migrateLocation(readConfig(locationOf(args)), (text) =>
        process.stderr.write(text),
      );
      process.stderr.write(
        applied.length > 0 ? 'The database is up to date now.\n' : 'The database was up to date.\n',
      );
      return 0;
    });
  },
});
