import { stripVTControlCharacters } from 'node:util';
import {
  type ArgsDef,
  type CommandDef,
  defineCommand,
  renderUsage,
  runCommand,
  runMain,
  type SubCommandsDef,
} from 'citty';
import packageFile from '../../package.json' with { type: 'json' };
import { hint } from '../rest-compat/nearest.ts';
import { commands } from './commands.ts';
import { exitCodes } from './failures.ts';

const { name, version, description } = packageFile;
const rawArgs = process.argv.slice(2);
const program = defineCommand({ meta: { name, version, description }, subCommands: commands });

// A reader such as `head` may close the pipe early, which is not an error of the command. The output of a server is its
// log: if the disk is full, the log has gaps, but the server continues.
const isServer = rawArgs[0] === 'serve';
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE' && !isServer) throw error;
});
if (isServer) process.stderr.on('error', () => undefined);

const isHelp = rawArgs.some((word) => word === '--help' || word === '-h');
if (isHelp || rawArgs.length === 0 || (rawArgs.length === 1 && rawArgs[0] === '--version')) await help();
else await run();

/** Prints the usage, or the version. Without any words, the usage is the answer to a mistake. */
async function help(): Promise<void> {
  const to = isHelp ? process.stdout : process.stderr;
  if (rawArgs.length === 0) process.exitCode = exitCodes.usage;
  const print = async <Args extends ArgsDef>(command: CommandDef<Args>, parent?: CommandDef<Args>) => {
    const usage = await renderUsage(command, parent);
    to.write(`${to.isTTY ? usage : stripVTControlCharacters(usage)}\n`);
  };
  if (rawArgs.length === 0) await print(program);
  else await runMain(program, { rawArgs, showUsage: print });
}

async function run(): Promise<void> {
  try {
    await runCommand(program, { rawArgs });
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'CLIError') throw error;
    process.stderr.write(`${await mistake(error)}\n`);
    process.exitCode = exitCodes.usage;
  }
}

/** What is wrong with the words of the command line, and what would be right. */
async function mistake({ message }: Error): Promise<string> {
  let known: SubCommandsDef | undefined = commands;
  const path: string[] = [];
  for (const word of rawArgs) {
    if (!known || word.startsWith('-')) break;
    if (!Object.hasOwn(known, word)) {
      const names = Object.keys(known);
      return `Unknown command ${[...path, word].join(' ')}${hint(word, names) || `; there are ${names.join(', ')}.`}`;
    }
    const next: unknown = known[word];
    path.push(word);
    known = ((await (typeof next === 'function' ? next() : next)) as { subCommands?: SubCommandsDef })
      .subCommands;
  }
  if (known) return `${path.join(' ')} needs one of ${Object.keys(known).join(', ')}; --help says more.`;
  return `${stripVTControlCharacters(message).replace(/\.$/, '')}; npx workgraph ${path.join(' ')} --help shows the usage.`;
}
