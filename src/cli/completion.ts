import { type CommandDef, defineCommand, type SubCommandsDef } from 'citty';
import { refuseWrongArguments, reportFailure, UsageError } from './failures.ts';
import { valueOf } from './usage.ts';

const args = {
  shell: {
    type: 'positional',
    required: true,
    valueHint: 'bash|zsh|fish',
    description: 'The shell: bash, zsh or fish',
  },
} as const;

/** A command, or a group of commands, as a shell completes it. */
interface CompletedCommand {
  /** The names from the program to the command: `token create`. */
  readonly path: readonly string[];
  readonly description: string;
  readonly children: readonly string[];
  /** The values of an argument that has only few. */
  readonly choices: readonly string[];
  readonly flags: readonly {
    readonly name: string;
    readonly takesValue: boolean;
    readonly description: string;
  }[];
}

/** Prints the script with which a shell completes these commands and their flags. */
export function completionCommand(commands: SubCommandsDef) {
  return defineCommand({
    meta: {
      name: 'completion',
    },
    args,
    async run(context) {
      process.exitCode = await reportFailure(async () => {
        refuseWrongArguments(context.args, args);
        const { shell } = context.args;
        const print = Object.hasOwn(shells, shell) ? shells[shell as keyof typeof shells] : undefined;
        if (!print)
          throw new UsageError(`There is no completion for ${shell}; there are bash, zsh and fish.`);
        process.stdout.write(print(await collectCommands(commands)));
        return 0;
      });
    },
  });
}

const shells = { bash: bashScript, zsh: zshScript, fish: fishScript };

async function collectCommands(commands: SubCommandsDef): Promise<readonly CompletedCommand[]> {
  const completed: CompletedCommand[] = [];
  const visit = async (path: readonly string[], command: CommandDef): Promise<void> => {
    const children = (await valueOf(command.subCommands)) ?? {};
    const meta = await valueOf(command.meta);
    const args = (await valueOf(command.args)) ?? {};
    const choices = Object.values(args).flatMap((arg) =>
      arg.type === 'positional' && arg.valueHint?.includes('|') ? arg.valueHint.split('|') : [],
    );
    const flags = Object.entries(args).flatMap(([name, arg]) =>
      arg.type === 'positional'
        ? []
        : [{ name, takesValue: arg.type !== 'boolean', description: arg.description ?? '' }],
    );
    completed.push({
      path,
      description: meta?.description ?? '',
      children: Object.keys(children),
      choices,
      flags,
    });
    for (const [name, child] of Object.entries(children))
      await visit([...path, name], (await valueOf(child)) as CommandDef);
  };
  await visit([], { subCommands: commands });
  return completed;
}

function bashScript(commands: readonly CompletedCommand[]): string {
  // The longest path comes first, since a path is also the beginning of the paths of its subcommands.
  const cases = commands
    .toSorted((one, other) => other.path.length - one.path.length)
    .map((command) => {
      const words = [
        ...command.children,
        ...command.choices,
        ...command.flags.map(({ name }) => `--${name}`),
      ].join(' ');
      const pattern = command.path.length === 0 ? '*' : `"${command.path.join(' ')} "*`;
      return `    ${pattern}) words="${words}" ;;`;
    });
  return `# Completion of workgraph for bash: eval "$(npx workgraph completion bash)"
_workgraph() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word words="" first=1
  if [[ \${COMP_WORDS[0]} == npx ]]; then
    [[ $COMP_CWORD -gt 1 && \${COMP_WORDS[1]} == workgraph ]] || return
    first=2
  fi
  for word in "\${COMP_WORDS[@]:$first:$((COMP_CWORD - first))}"; do
    [[ $word == -* ]] || path+="$word "
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _workgraph workgraph npx
`;
}

function zshScript(commands: readonly CompletedCommand[]): string {
  return `# Completion of workgraph for zsh: eval "$(npx workgraph completion zsh)"
autoload -U +X compinit bashcompinit
compinit -u
bashcompinit
${bashScript(commands).split('\n').slice(1).join('\n')}`;
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const byPath = new Map(commands.map((command) => [command.path.join(' '), command]));
  const lines = commands.flatMap(({ path, children, choices, flags }) => {
    const conditions = path.map((word) => `__fish_seen_subcommand_from ${word}`);
    const noSubcommand = children.length > 0 ? [`not __fish_seen_subcommand_from ${children.join(' ')}`] : [];
    const when = `-n ${inQuotes([...conditions, ...noSubcommand].join('; and '))}`;
    return [
      ...children.map((name) => {
        const { description = '' } = byPath.get([...path, name].join(' ')) ?? {};
        return `complete -c workgraph -f ${when} -a ${name} -d ${inQuotes(description)}`;
      }),
      ...choices.map((name) => `complete -c workgraph -f ${when} -a ${name}`),
      ...flags.map(
        ({ name, takesValue, description }) =>
          `complete -c workgraph ${when} -l ${name}${takesValue ? ' -r' : ''} -d ${inQuotes(description)}`,
      ),
    ];
  });
  return `# Completion of workgraph for fish: npx workgraph completion fish | source
${lines.join('\n')}
complete -c npx -f -n '__fish_seen_subcommand_from workgraph' -a '(complete -C (string replace -r "^npx +" "" -- (commandline -cp)))'
`;
}

function inQuotes(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
