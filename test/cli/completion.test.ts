import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { workgraph } from './workgraph.ts';

/** Asks a real shell what it offers for a line, after it has read our script. */
const offers: Readonly<Record<string, (line: string) => string>> = {
  bash: (line) => `
    COMP_WORDS=(${line.endsWith(' ') ? `${line} ""` : line})
    COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
    _workgraph
    printf '%s\\n' "\${COMPREPLY[@]}"`,
  // zsh itself leaves out what does not fit the word.
  zsh: (line) => `
    COMP_WORDS=(${line.endsWith(' ') ? `${line} ""` : line})
    COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
    emulate -L ksh
    _workgraph
    printf '%s\\n' "\${COMPREPLY[@]}" | grep -- "^\${COMP_WORDS[COMP_CWORD]}"`,
  fish: (line) => `complete -C '${line}' | string split -f1 \\t`,
};

const isThere = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0;

describe.each(Object.entries(offers))('the completion of %s', (shell, ask) => {
  const test = isThere(shell) ? it : it.skip;
  let script = '';
  beforeAll(async () => {
    script = (await workgraph(['completion', shell])).stdout;
  });
  test.each([
    ['workgraph to', ['token']],
    ['workgraph token ', ['create', 'list', 'revoke']],
    ['workgraph token create --mem', ['--member']],
    ['workgraph token create --member Ada --exp', ['--expires']],
    ['workgraph completion ', ['bash', 'zsh', 'fish']],
    ['npx workgraph to', ['token']],
    ['npx workgraph token create --member Ada --exp', ['--expires']],
  ])('completes `%s`', (line, expected) => {
    const input = `${script}\n${ask(line)}\n`;
    const { stdout, stderr } = spawnSync(shell, [...(shell === 'zsh' ? ['-f'] : []), '-c', input]);
    expect(stderr.toString()).toBe('');
    expect(new Set(stdout.toString().trim().split('\n'))).toEqual(new Set(expected));
  });
});

it('completion names the shells that there are', async () => {
  expect(await workgraph(['completion', 'tcsh'])).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: 'There is no completion for tcsh; there are bash, zsh and fish.\n',
  });
});
