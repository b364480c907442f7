import { defineCommand } from 'citty';
import { settingGroups } from '../../server/setting-kinds.ts';
import { flagNameOf, flagsOf } from '../../server/setting-flags.ts';
import { type SettingName, settingNames } from '../../server/settings.ts';
import type { DatabaseCommand } from '../environment.ts';
import { refuseWrongArguments, reportFailure } from '../failures.ts';

const args = {
  ...flagsOf(settingNames),
  migrate: {
    type: 'boolean',
    heading: settingGroups.database,
    description: 'Bring an external database up to date first; an embedded one always is',
  },
  demo: {
    type: 'boolean',
    heading: settingGroups.database,
    description: 'Fill an empty external database with the demo workspace; a new embedded one always gets it',
    negativeDescription: 'Leave a new embedded database empty',
  },
} as const;

/**
 * `npx workgraph serve`. A server with an embedded database runs the commands of other processes; `findCommand` finds them.
 */
export function serveCommand(findCommand: (name: string) => Promise<DatabaseCommand | undefined>) {
  return defineCommand({
    meta: { name: 'serve' },
    args,
    async run(context) {
      const exitCode = await reportFailure(async () => {
        refuseWrongArguments(context.args, args);
        const { start } = await import('./start.ts');
        const { migrate, demo } = context.args;
        return start({ settings: settingsOf(context.args), migrate, demo, findCommand });
      });
      // Open handles must not keep the process alive after the server has stopped.
      process.exit(exitCode);
    },
  });
}

function settingsOf(args: Record<string, unknown>): Partial<Record<SettingName, string>> {
  const entries = settingNames.flatMap((name) => {
    const value = args[flagNameOf(name)];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  return Object.fromEntries(entries);
}
