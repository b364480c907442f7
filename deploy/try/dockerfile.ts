import { parse as parseYaml } from 'yaml';

/** An instruction of a Dockerfile, with its words: those of a JSON array, or of the line. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
  /** The words, if they are written as a JSON array: no shell reads them. */
  readonly words: readonly string[] | undefined;
}

/** One stage of a Dockerfile: what begins with FROM. */
export interface Stage {
  readonly name: string | undefined;
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

/** Reads the part of the language that our Dockerfile uses: comments, stages, JSON arrays; no continued lines. */
export function readDockerfile(text: string): Stage[] {
  const stages: { name: string | undefined; base: string; instructions: Instruction[] }[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [name = '', ...rest] = line.split(' ');
    const words = rest.join(' ');
    if (line.endsWith('\\')) throw new Error(`A continued line cannot be read: ${line}`);
    if (name === 'FROM') {
      const [base = '', , stage] = rest;
      stages.push({ name: stage, base, instructions: [] });
    } else {
      const stage = stages.at(-1);
      if (!stage) throw new Error(`No stage begins before: ${line}`);
      stage.instructions.push({ name, text: words, words: wordsOf(words) });
    }
  }
  return stages;
}

function wordsOf(text: string): string[] | undefined {
  const array = text.slice(text.indexOf('['));
  return array.startsWith('[') ? (parseYaml(array) as string[]) : undefined;
}

/** The variables of an ENV instruction. */
export function variablesOf({ text }: Instruction): Record<string, string> {
  return Object.fromEntries(text.split(' ').map((pair) => pair.split('=') as [string, string]));
}
