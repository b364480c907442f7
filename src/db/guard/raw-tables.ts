import { ColumnNode, IdentifierNode, RawNode, ReferenceNode, TableNode, ValueNode } from 'kysely';
import type { OperationNode } from 'kysely';
import { identifierOf } from './identifiers.ts';

/** What a raw SQL fragment contains that concerns tenants. */
export interface RawContents {
  /** The names at positions where SQL expects a table (after from, join, update, into, using …). */
  readonly tables: string[];
  /**
   * A construct that could disable conditions next to the fragment, since Kysely does not put raw SQL in parentheses.
   */
  readonly leak: 'or' | 'parenthesis' | 'comment' | undefined;
}

/**
 * Reads a raw fragment together with the fragments and identifiers spliced into it. `asTable` means that the fragment
 * is used as a table, as in selectFrom(sql`issue`.as('i')).
 */
export function readRaw(node: RawNode, asTable = false): RawContents {
  const text = fragmentText(node);
  if (!asTable && !mayConcernTables.test(text)) return noContents;
  return scan(text.match(tokenPattern) ?? [], asTable);
}

const noContents: RawContents = { tables: [], leak: undefined };
const mayConcernTables = /[()]|--|\/\*|\b(?:from|join|update|into|using|table|truncate|copy|or)\b/i;

/** The text for a value, an expression or a subquery in the fragment, which are checked as nodes. */
const opaque = ' \u0001 ';

function fragmentText(node: RawNode): string {
  let text = node.sqlFragments[0] ?? '';
  node.parameters.forEach((parameter, index) => {
    text += parameterText(parameter) + (node.sqlFragments[index + 1] ?? '');
  });
  return text;
}

function parameterText(node: OperationNode): string {
  if (RawNode.is(node)) return fragmentText(node);
  if (TableNode.is(node) || IdentifierNode.is(node)) return `"${identifierOf(node)}"`;
  if (ReferenceNode.is(node) && ColumnNode.is(node.column)) {
    return `${node.table ? `"${identifierOf(node.table)}".` : ''}"${identifierOf(node.column)}"`;
  }
  return ValueNode.is(node) && node.immediate ? "'literal'" : opaque;
}

const tokenPattern = new RegExp(
  [
    String.raw`--[^\n]*(?:\n|$)`,
    String.raw`/\*[\s\S]*?\*/`,
    String.raw`[eE]'(?:[^'\\]|''|\\.)*'`,
    String.raw`'(?:[^']|'')*'`,
    String.raw`\$(\w*)\$[\s\S]*?\$\1\$`,
    String.raw`"(?:[^"]|"")*"`,
    String.raw`[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*`,
    String.raw`\S`,
  ].join('|'),
  'g',
);

const opensList = new Set(['from', 'using']);
const opensOne = new Set(['join', 'update', 'into', 'table', 'truncate', 'copy']);
const closesList = new Set(
  'where group order having limit offset fetch for set returning window union intersect except'
    .split(' ')
    .concat('select', 'values', 'when', 'with'),
);
const betweenWords = new Set(['only', 'lateral', 'rows']);
/** Words after which `update` and `from` are not followed by a table: for update, do update, is distinct from. */
const notAfter: Readonly<Record<string, ReadonlySet<string>>> = {
  update: new Set(['for', 'key', 'do', 'on']),
  from: new Set(['distinct']),
};
/** Functions that have the word `from` between their arguments. */
const fromFunctions = new Set(['extract', 'substring', 'trim', 'overlay']);

/** The state of the scan at one depth of parentheses. */
interface Depth {
  inList: boolean;
  expecting: boolean;
  joined: boolean;
  readonly isFromFunction: boolean;
}

function scan(tokens: readonly string[], asTable: boolean): RawContents {
  const tables: string[] = [];
  const outer: Depth[] = [];
  let here: Depth = { inList: asTable, expecting: asTable, joined: false, isFromFunction: false };
  let leak: RawContents['leak'];
  let before = '';
  for (const [index, token] of tokens.entries()) {
    const word = token.toLowerCase();
    if (token.startsWith('--') && !token.endsWith('\n')) leak ??= 'comment';
    if (token.startsWith('--') || token.startsWith('/*')) continue;
    if (token === '(') {
      outer.push(here);
      const { expecting } = here;
      here = { inList: expecting, expecting, joined: false, isFromFunction: fromFunctions.has(before) };
    } else if (token === ')') {
      const enclosing = outer.pop();
      if (!enclosing) leak ??= 'parenthesis';
      here = { ...(enclosing ?? here), expecting: false };
    } else if (word === 'or' && outer.length === 0) {
      leak ??= 'or';
    } else if (here.expecting && isName(token) && !closesList.has(word)) {
      // In `schema.table` the last part is the table. A name before a parenthesis is a function.
      here.expecting = betweenWords.has(word) || tokens[index + 1] === '.';
      if (!here.expecting && tokens[index + 1] !== '(') tables.push(unquoted(token));
    } else if (token !== '.') {
      step(here, word, before);
    }
    before = word;
  }
  return { tables, leak: outer.length > 0 ? (leak ?? 'parenthesis') : leak };
}

function step(here: Depth, word: string, before: string): void {
  if (word === ',') {
    here.expecting = here.inList;
  } else if (closesList.has(word)) {
    here.inList = false;
    here.expecting = false;
    here.joined = false;
  } else if (opensTables(here, word, before)) {
    here.inList ||= opensList.has(word);
    here.joined ||= word === 'join';
    here.expecting = true;
  } else {
    here.expecting = false;
  }
}

function opensTables(here: Depth, word: string, before: string): boolean {
  if (notAfter[word]?.has(before)) return false;
  if (word === 'from') return !here.isFromFunction;
  // join … using (columns)
  if (word === 'using') return !here.joined;
  return opensOne.has(word);
}

function isName(token: string): boolean {
  return /^["A-Za-z_\u0080-\uffff]/.test(token);
}

function unquoted(token: string): string {
  return token.startsWith('"') ? token.slice(1, -1) : token;
}
