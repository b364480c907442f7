import { defineCommand } from 'citty';
import { locationArgs } from './environment.ts';
import { pluralize } from './pluralize.ts';
import { exitCodes, refuseWrongArguments, reportFailure } from './failures.ts';

/**
 * Not a `databaseCommand`, because those require a database that is up to date. A running server's database always is.
 */
export const command = defineCommand({
  meta: {
    name: 'migrate',
  },
  args: locationArgs,
  async run({ args }) {
    process.exitCode = await reportFailure(async () => {
      refuseWrongArguments(args, locationArgs);
      const { locationOf, screenOfProcess } = await import('./location/location.ts');
      const { migrateLocation } = await import('./location/open-location.ts');
      const { readConfig } = await import('../server/config.ts');
      const { Progress } = await import('./progress.ts');
      let progress: InstanceType<typeof Progress> | undefined;
      // Only the end of its connection can stop a migration, after which the database is unchanged.
      process.once('SIGINT', () => {
        progress?.printLine(
          'Stopped. The migrations applied so far stay; run the command again to continue.',
        );
        process.exit(exitCodes.interrupted);
      });
      const applied = await migrateLocation(
        readConfig(locationOf(args)),
        (text) => (progress ? progress.printLine(text.trimEnd()) : process.stderr.write(text)),
        ({ name, done, total, rows }) => {
          progress ??= new Progress(screenOfProcess(), { total, unit: 'migration' });
          progress.update(done, { detail: rows > 0 ? `${name}: ${pluralize(rows, 'row')}` : name });
        },
      ).finally(() => progress?.end());
      process.stderr.write(
        applied.length > 0 ? 'The database is up to date now.\n' : 'The database was already up to date.\n',
      );
      return 0;
    });
  },
});
