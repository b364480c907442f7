import { stripVTControlCharacters, styleText } from 'node:util';
import { type ArgsDef, type CommandDef, defineCommand, runCommand, type SubCommandsDef } from 'citty';
import packageFile from '../../package.json' with { type: 'json' };
import { suggestionFor } from '../model/nearest.ts';
import { commands } from './commands.ts';
import { exitCodes } from './failures.ts';
import { usageOf, valueOf } from './usage.ts';

const { name, version, description } = packageFile;
const rawArgs = process.argv.slice(2);
const program = defineCommand({ meta: { name, version, description }, subCommands: commands });

// A reader such as `head` may close the pipe early, which is not an error of the command. The output of a server is its
// log: if the disk is full, the log has gaps, but the server continues.
const isServer = rawArgs[0] === 'serve';
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || isServer) return;
  const why = error.code === 'ENOSPC' ? 'the disk is full' : error.message;
  process.stderr.write(`Standard output cannot be written, so it is incomplete: ${why}.\n`);
  process.exit(exitCodes.failed);
});
if (isServer) process.stderr.on('error', () => undefined);

const isHelp = rawArgs.some((word) => word === '--help' || word === '-h');
if (rawArgs.length === 1 && rawArgs[0] === '--version') process.stdout.write(`${version}\n`);
else if (isHelp || rawArgs.length === 0) await help();
else await run();

/**
 * Prints the usage of the command that the arguments select: to stdout for `--help`; to stderr, with the exit code of a wrong use, if there
 * are no arguments.
 */
async function help(): Promise<void> {
  const { command, path, unknown } = await selectedCommand();
  if (unknown !== undefined) return refuse(unknownCommand(command, path, unknown));
  const output = isHelp ? process.stdout : process.stderr;
  if (!isHelp) process.exitCode = exitCodes.usage;
  const usage = await usageOf(command, path, (style, text) => styleText(style, text, { stream: output }));
  output.write(`${usage}\n`);
}

async function run(): Promise<void> {
  try {
    await runCommand(program, { rawArgs });
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'CLIError') throw error;
    await refuse(usageErrorOf(error));
  }
}

async function refuse(message: Promise<string>): Promise<void> {
  process.stderr.write(`${await message}\n`);
  process.exitCode = exitCodes.usage;
}

interface SelectedCommand {
  readonly command: CommandDef;
  /** The names from the program to the command: `['token', 'create']`. */
  readonly path: readonly string[];
  /** The next word, if a command was expected there and no command has this name. */
  readonly unknown: string | undefined;
}

/** Finds the command that the arguments select. */
async function selectedCommand(): Promise<SelectedCommand> {
  let command: CommandDef = program;
  const path: string[] = [];
  for (const word of rawArgs) {
    const subCommands: SubCommandsDef | undefined = await valueOf(command.subCommands);
    if (!subCommands || word.startsWith('-')) break;
    const child = Object.hasOwn(subCommands, word) ? subCommands[word] : undefined;
    if (!child) return { command, path, unknown: word };
    command = await valueOf(child);
    path.push(word);
  }
  return { command, path, unknown: undefined };
}

/** The message that says what is wrong with the arguments, and how to correct them. */
async function usageErrorOf({ message }: Error): Promise<string> {
  const { command, path, unknown } = await selectedCommand();
  if (unknown !== undefined) return unknownCommand(command, path, unknown);
  const subCommands = await valueOf(command.subCommands);
  if (subCommands)
    return `${path.join(' ')} needs one of ${Object.keys(subCommands).join(', ')}; --help says more.`;
  const plainMessage = stripVTControlCharacters(message);
  return (
    wrongChoice(plainMessage, (await valueOf(command.args)) ?? {}) ??
    `${plainMessage.replace(/\.$/, '')}; npx workgraph ${path.join(' ')} --help shows the usage.`
  );
}

/** Replaces citty's message about an argument with a fixed set of values; undefined for other messages. */
function wrongChoice(message: string, args: ArgsDef): string | undefined {
  const [, flag = '', value = ''] =
    /^Invalid value for argument: --(\S+) \(([^]*)\)\. Expected one of/.exec(message) ?? [];
  const arg = args[flag];
  if (arg?.type === 'enum' && arg.options) {
    const { options } = arg;
    return `--${flag} must be one of ${options.join(', ')}${suggestionFor(value, options) || '.'}`;
  }
  const missing = /^Missing required positional argument: (\S+)$/.exec(message)?.[1]?.toLowerCase() ?? '';
  const { valueHint = '' } = args[missing] ?? {};
  if (!valueHint.includes('|')) return undefined;
  return `${missing} is missing: one of ${valueHint.replaceAll('|', ', ')}; --help shows the usage.`;
}

async function unknownCommand(command: CommandDef, path: readonly string[], word: string): Promise<string> {
  const names = Object.keys((await valueOf(command.subCommands)) ?? {});
  return `Unknown command ${[...path, word].join(' ')}${suggestionFor(word, names) || `; there are ${names.join(', ')}.`}`;
}
