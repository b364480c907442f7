import type { ArgDef, CommandDef, Resolvable, SubCommandsDef } from 'citty';
import packageFile from '../../package.json' with { type: 'json' };

type Styles = (style: 'bold' | 'cyan' | 'gray', text: string) => string;

/** A flag, argument or command, and what it is. */
type Line = readonly [name: string, description: string];

/** A function that loads a command, with the description of the command. */
export type LazyCommand = (() => Promise<CommandDef>) & { readonly description: string };

/** Flags that no declaration groups. */
const otherFlags = 'Options';

/** What `--help` prints: how to call a command, and its flags below their headings. `path` has the names from the program to the command. */
export async function usageOf(
  command: CommandDef,
  path: readonly string[],
  styled: Styles = (_style, text) => text,
): Promise<string> {
  const args = Object.entries((await valueOf(command.args)) ?? {});
  const children = await childrenOf(command);
  const positional = args.filter(([, { type }]) => type === 'positional');
  const flags = args.filter(([, { type }]) => type !== 'positional');
  const call = [
    'npx workgraph',
    ...path,
    ...positional.map(([name, arg]) => (isRequired(arg) ? `<${name}>` : `[${name}]`)),
    ...flags.filter(([, arg]) => isRequired(arg)).map(([name, arg]) => `--${name}=<${hintOf(arg)}>`),
    ...(flags.some(([, arg]) => !isRequired(arg)) ? ['[options]'] : []),
    ...(children.length > 0 ? ['<command>'] : []),
  ].join(' ');
  const headings = new Set(flags.map(([, arg]) => headingOf(arg)));
  const sections: (readonly [heading: string, lines: readonly Line[]])[] = [
    ['Arguments', positional.map(([name, arg]) => [name, descriptionOf(arg)])],
    ...[...headings].map((heading) => {
      const flagsUnder = flags.filter(([, arg]) => headingOf(arg) === heading);
      return [heading, flagsUnder.flatMap(([name, arg]) => flagLines(name, arg))] as const;
    }),
    ['Commands', children],
  ];
  const { description = '' } = (await valueOf(command.meta)) ?? {};
  const isProgram = path.length === 0;
  return [
    isProgram ? `${description} (${packageFile.name} ${packageFile.version})` : description,
    `${styled('bold', 'Usage')}  ${styled('cyan', call)}`,
    ...sections.filter(([, lines]) => lines.length > 0).map((section) => sectionOf(section, styled)),
    ...(children.length > 0
      ? [`${['npx workgraph', ...path].join(' ')} <command> --help says more about a command.`]
      : []),
  ].join('\n\n');
}

/** The commands below a command, with what they do. */
async function childrenOf(command: CommandDef): Promise<Line[]> {
  const children: SubCommandsDef = (await valueOf(command.subCommands)) ?? {};
  return Promise.all(
    Object.entries(children).map(async ([name, child]) => {
      if (isLazy(child)) return [name, child.description] as const;
      const meta = await valueOf((await valueOf(child)).meta);
      return [name, meta?.description ?? ''] as const;
    }),
  );
}

function isLazy(command: unknown): command is LazyCommand {
  return typeof command === 'function' && 'description' in command;
}

function sectionOf([heading, lines]: readonly [string, readonly Line[]], styled: Styles): string {
  const width = Math.max(...lines.map(([name]) => name.length));
  const formatted = lines.map(([name, description]) =>
    `  ${styled('cyan', name.padEnd(width))}  ${description}`.trimEnd(),
  );
  return [styled('bold', heading), ...formatted].join('\n');
}

function flagLines(name: string, arg: ArgDef): Line[] {
  const line: Line =
    arg.type === 'boolean'
      ? [`--${name}`, descriptionOf(arg)]
      : [`--${name}=<${hintOf(arg)}>`, descriptionOf(arg)];
  const isNegatable = arg.type === 'boolean' && arg.negativeDescription !== undefined;
  return isNegatable ? [line, [`--no-${name}`, arg.negativeDescription ?? '']] : [line];
}

function descriptionOf(arg: ArgDef): string {
  const defaultText = arg.default === undefined ? '' : ` (by default ${String(arg.default)})`;
  return `${arg.description ?? ''}${defaultText}`;
}

function hintOf(arg: ArgDef): string {
  const choices = arg.type === 'enum' ? arg.options?.join('|') : undefined;
  return choices ?? arg.valueHint?.toLowerCase() ?? 'text';
}

function headingOf(arg: ArgDef): string {
  return (arg as { heading?: string }).heading ?? otherFlags;
}

function isRequired({ type, required, default: defaultValue }: ArgDef): boolean {
  if (defaultValue !== undefined) return false;
  return type === 'positional' ? required !== false : required === true;
}

/** Citty allows a value, a promise, or a function that returns either. */
export async function valueOf<Value>(resolvable: Resolvable<Value>): Promise<Value> {
  return typeof resolvable === 'function' ? (resolvable as () => Value | Promise<Value>)() : resolvable;
}
