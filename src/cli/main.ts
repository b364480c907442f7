import { defineCommand, renderUsage, runMain } from 'citty';
import packageFile from '../../package.json' with { type: 'json' };
import { commands } from './commands.ts';

const { name, version, description } = packageFile;
const rawArgs = process.argv.slice(2);
const isHelp = rawArgs.some((word) => word === '--help' || word === '-h');

// A reader that has seen enough, such as `head`, is no fault of the command.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

await runMain(defineCommand({ meta: { name, version, description }, subCommands: commands }), {
  rawArgs,
  // Help that was asked for is data; help after a mistake is words.
  showUsage: async (command, parent) => {
    (isHelp ? process.stdout : process.stderr).write(`${await renderUsage(command, parent)}\n`);
  },
});
