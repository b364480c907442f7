import { defineCommand, renderUsage, runMain } from 'citty';
import packageFile from '../../package.json' with { type: 'json' };
import { commands } from './commands.ts';

const { name, version, description } = packageFile;
const rawArgs = process.argv.slice(2);
const isHelp = rawArgs.some((word) => word === '--help' || word === '-h');

// A reader that has seen enough, such as `head`, is no fault of the command. What a server prints is its log: on a full
// disk it has gaps, and the server goes on.
const isServer = rawArgs[0] === 'serve';
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE' && !isServer) throw error;
});
if (isServer) process.stderr.on('error', () => undefined);

await runMain(defineCommand({ meta: { name, version, description }, subCommands: commands }), {
  rawArgs,
  // Help that was asked for is data; help after a mistake is words.
  showUsage: async (command, parent) => {
    (isHelp ? process.stdout : process.stderr).write(`${await renderUsage(command, parent)}\n`);
  },
});
