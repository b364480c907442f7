import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One change of a file. The text that it looks for must occur exactly once. */
export type Edit =
  | { readonly kind: 'create'; readonly text: string }
  | { readonly kind: 'below' | 'above'; readonly anchor: string; readonly text: string }
  | { readonly kind: 'replace'; readonly anchor: string; readonly text: string };

export interface Step {
  /** Relative to the root of the repository. */
  readonly path: string;
  readonly edits: readonly Edit[];
}

/** A request at the end of a recipe. `answer` is what its answer must contain; without one it only must succeed. */
export interface Trial {
  readonly kind: 'sql' | 'graphql' | 'http' | 'console';
  readonly text: string;
  readonly answer?: object;
}

export interface Recipe {
  readonly title: string;
  readonly steps: readonly Step[];
  readonly trials: readonly Trial[];
}

interface Block {
  readonly language: string;
  readonly text: string;
}

/** Reads the recipes of CONTRIBUTING.md, which are written so that a program can follow them as well. */
export function readRecipes(root: string): Recipe[] {
  const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const [, recipes = ''] = /\n## Recipes\n(.*?)\n## /s.exec(page) ?? [];
  return recipes.split(/^### /m).slice(1).map(readRecipe);
}

function readRecipe(section: string): Recipe {
  const title = section.slice(0, section.indexOf('\n'));
  const parts = section.split(/^(?=\d+\. )/m).slice(1);
  // What is not indented after the last step belongs to no step.
  const [lastStep = '', ...rest] = (parts.pop() ?? '').split(/^(?=[^\s\d])/m);
  return {
    title,
    steps: [...parts, lastStep].map((part) => readStep(title, part)),
    trials: readTrials(blocksOf(rest.join(''))),
  };
}

function readStep(title: string, part: string): Step {
  const [, path, isNew] = /^\d+\. `([^`]+)`( \(new\))?:/.exec(part) ?? [];
  if (path === undefined) throw new Error(`${title}: a step does not begin with its file: ${part}`);
  // The code of a step is indented as far as the text behind its number.
  const indent = part.indexOf('`');
  const text = part.replaceAll(new RegExp(`^ {${indent}}`, 'gm'), '');
  if (isNew) return { path, edits: blocksOf(text).map((block) => ({ kind: 'create', text: block.text })) };
  const inserts = [...text.matchAll(/^(Below|Above) `([^\n]+)`:\n\n(```\w+\n.*?\n```)$/gms)].map(
    ([, where, anchor = '', fenced = '']): Edit => {
      const kind = where === 'Below' ? 'below' : 'above';
      return { kind, anchor, text: blocksOf(fenced)[0]?.text ?? '' };
    },
  );
  const replacements = [...text.matchAll(/^Replace `(.+)` with `(.+)`\.$/gm)].map(
    ([, anchor = '', by = '']): Edit => ({ kind: 'replace', anchor, text: by }),
  );
  return { path, edits: [...inserts, ...replacements] };
}

/** The fenced blocks of a text. */
function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', block = '']) => ({
    language,
    text: block,
  }));
}

function readTrials(blocks: readonly Block[]): Trial[] {
  return blocks.flatMap(({ language, text }, index) => {
    if (language === 'json') return [];
    const next = blocks[index + 1];
    const answer = next?.language === 'json' ? { answer: JSON.parse(next.text) as object } : {};
    return [{ kind: language as Trial['kind'], text: text.trim(), ...answer }];
  });
}

/** The text of a file after the edits; throws when an anchor occurs never or more than once. */
export function edited(path: string, before: string | undefined, edits: readonly Edit[]): string {
  let text = before;
  for (const edit of edits) {
    if (edit.kind === 'create') {
      if (text !== undefined) throw new Error(`${path} exists already.`);
      text = edit.text;
      continue;
    }
    const pieces = (text ?? '').split(edit.anchor);
    if (pieces.length !== 2)
      throw new Error(`${path} has ${pieces.length - 1} times, instead of once: ${edit.anchor}`);
    text = withEdit(pieces as [string, string], edit);
  }
  if (text === undefined || edits.length === 0) throw new Error(`No edit of ${path} could be read.`);
  return text;
}

function withEdit([head, tail]: [string, string], edit: Exclude<Edit, { kind: 'create' }>): string {
  if (edit.kind === 'replace') return head + edit.text + tail;
  // Whole lines are inserted, above or below the line that has the anchor.
  const at = edit.kind === 'above' ? head.lastIndexOf('\n') + 1 : head.length + edit.anchor.length;
  const whole = head + edit.anchor + tail;
  const offset = edit.kind === 'above' ? at : whole.indexOf('\n', at) + 1;
  return whole.slice(0, offset) + edit.text + whole.slice(offset);
}
