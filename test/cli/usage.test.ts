import { expect, it } from '@jest/globals';
import type { CommandDef } from 'citty';
import { commands } from '../../src/cli/commands.ts';
import { valueOf } from '../../src/cli/usage.ts';
import { workgraph } from './workgraph.ts';

it.each([
  [['tokn'], 'Unknown command tokn; did you mean token?\n'],
  [['frobnicate'], /^Unknown command frobnicate; there are serve, migrate, .*completion\.\n$/],
  [['token'], 'token needs one of create, list, revoke; --help says more.\n'],
  [['token', 'crate'], 'Unknown command token crate; did you mean create?\n'],
  [
    ['workspace', 'create'],
    'Missing required argument: --name; npx workgraph workspace create --help shows the usage.\n',
  ],
  [['import'], 'Missing required positional argument: FILE; npx workgraph import --help shows the usage.\n'],
  [['import', 'b.jsonl'], '--from is missing: one of beads, ndjson, backup; --help shows the usage.\n'],
  [['import', 'b.jsonl', '--from', 'csv'], '--from must be one of beads, ndjson, backup.\n'],
  [
    ['import', 'b.jsonl', '--from', 'bead'],
    '--from must be one of beads, ndjson, backup; did you mean beads?\n',
  ],
  [['completion'], 'shell is missing: one of bash, zsh, fish; --help shows the usage.\n'],
  [['token', 'crate', '--help'], 'Unknown command token crate; did you mean create?\n'],
  [[], /^A work-tracking service .*\n\nUsage  npx workgraph <command>\n\nCommands\n  serve /],
])('wrong usage is explained in plain text on standard error: %j', async (words, pattern) => {
  const { exitCode, stdout, stderr } = await workgraph(words);
  expect([exitCode, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(pattern);
});

it.each(Object.entries(commands))(
  'the help of %s shows a kind of value for each flag',
  async (_name, command) => {
    const visit = async (command: CommandDef): Promise<string[]> => {
      const args = Object.entries((await valueOf(command.args)) ?? {});
      const children = Object.values((await valueOf(command.subCommands)) ?? {});
      const below = await Promise.all(
        children.map(async (child) => visit((await valueOf(child)) as CommandDef)),
      );
      return [
        ...args.flatMap(([name, { type, valueHint }]) => (type === 'string' && !valueHint ? [name] : [])),
        ...below.flat(),
      ];
    };
    expect(await visit((await valueOf(command)) as CommandDef)).toEqual([]);
  },
);
