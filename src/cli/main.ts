import { defineCommand, renderUsage, runMain } from 'citty';
import packageFile from '../../package.json' with { type: 'json' };
import { commands } from './commands.ts';

const { name, version, description } = packageFile;
const rawArgs = process.argv.slice(2);
const isHelp = rawArgs.some((word) => word === '--help' || word === '-h');

// A reader such as `head` may close the pipe early, which is not an error of the command. The output of a server is its
// log: if the disk is full, the log has gaps, but the server continues.
const isServer = rawArgs[0] === 'serve';
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE' && !isServer) throw error;
});
if (isServer) process.stderr.on('error', () => undefined);

await runMain(defineCommand({ meta: { name, version, description }, subCommands: commands }), {
  rawArgs,
  // Requested help goes to standard output, help after a mistake to standard error.
  showUsage: async (command, parent) => {
    (isHelp ? process.stdout : process.stderr).write(`${await renderUsage(command, parent)}\n`);
  },
});
