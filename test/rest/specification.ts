import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A field of the specification. `type` is in its words, in the singular ("string", "Label array", …). */
export interface SpecifiedField {
  name: string;
  type: string;
}

/** An endpoint of the specification. */
export interface SpecifiedEndpoint {
  method: string;
  path: string;
  scope: string | undefined;
  /** The names, and the notes in parentheses after them. */
  parameters: { name: string; note: string }[];
  success: string;
  /** The cell about the body; empty if there is none. */
  body: string;
}

const markdown = readFileSync(join(import.meta.dirname, '../../docs/specification.md'), 'utf8');

/** The text under each heading, up to the next one. */
const sections = new Map(
  markdown.split(/^#{1,3} /m).map((section) => {
    const [heading = '', ...lines] = section.split('\n');
    return [heading.trim(), lines.join('\n')] as const;
  }),
);

/** The text under a heading; throws when the specification has no such heading. */
export function sectionOf(heading: string): string {
  const text = sections.get(heading);
  if (text === undefined) throw new Error(`The specification has no heading "${heading}".`);
  return text;
}

/** The rows of every table of a text, each cell under its column's name. */
export function tablesOf(text: string): Record<string, string>[][] {
  const blocks = text
    .split(/\n{2,}/)
    .map((block) => block.trim())
    .filter((block) => block.startsWith('|'));
  return blocks.map((block) => {
    const [header, , ...rows] = block.split('\n').map((line) => line.split('|').slice(1, -1));
    const names = (header ?? []).map((name) => name.trim());
    return rows.map((cells) =>
      Object.fromEntries(names.map((name, index) => [name, (cells[index] ?? '').trim()])),
    );
  });
}

function tableFields(heading: string): SpecifiedField[] {
  const [rows = []] = tablesOf(sectionOf(heading));
  return rows.map(({ Field = '', Type = '' }) => ({ name: Field, type: plainType(Type) }));
}

/** `a, b (strings), c (integer)`: a type belongs to all names since the last one. */
function proseFields(sentence: string, standard?: string): SpecifiedField[] {
  const fields: SpecifiedField[] = [];
  let waiting: string[] = [];
  for (const [, word, type] of sentence.matchAll(/(?<![`(\w])(\w+)|\(([^()]*)\)/g)) {
    if (word !== undefined && word !== 'and') waiting.push(word);
    if (type === undefined) continue;
    const typed = standard === undefined ? waiting : waiting.slice(-1);
    for (const name of waiting)
      fields.push({ name, type: typed.includes(name) ? plainType(type) : (standard ?? '') });
    waiting = [];
  }
  return [...fields, ...waiting.map((name) => ({ name, type: standard ?? '' }))];
}

/** "strings", "all strings", "string, same identifier", "string (color code)" are strings. */
function plainType(type: string): string {
  return type
    .replace(/^all /, '')
    .replace(/^(string|integer|timestamp|string array)s$/, '$1')
    .replace(/ \(.*$/, '')
    .replace(/^string, .*$/, 'string')
    .replace(/^service-relative UI path$/, 'string')
    .trim();
}

/** The text after a phrase in a section, up to the end of its sentence. */
function sentence(heading: string, opening: string): string {
  const text = sectionOf(heading);
  const start = text.indexOf(opening);
  if (start < 0) throw new Error(`"${heading}" says nothing of "${opening}".`);
  const rest = text.slice(start + opening.length);
  const end = rest.search(/\.(\s|$)/);
  return rest.slice(0, end < 0 ? undefined : end);
}

const team = proseFields(sentence('Team', 'List and detail items:'));
const project = proseFields(sentence('Project', 'List item:'));

/** The field tables of the specification, under the names that it gives them. */
export const resources: Readonly<Record<string, readonly SpecifiedField[]>> = {
  Pagination: tableFields('Conventions for all resources'),
  Issue: tableFields('Issue'),
  IssueStatus: proseFields(sentence('Issue', '**IssueStatus**:')),
  ProjectSummary: proseFields(sentence('Issue', '**ProjectSummary** (embedded in an issue):')),
  Delivery: proseFields(sentence('Issue', '**Delivery**:')),
  Assignee: proseFields(sentence('Issue', '**Assignee**:')),
  Label: proseFields(sentence('Issue', '**Label**:')),
  'Activity entry': tableFields('Activity entry'),
  Attachment: tableFields('Attachment'),
  'Issue link': proseFields(sentence('Issue link', 'Fields:')),
  'Project link': proseFields(sentence('Project link', 'Fields:')),
  'Sub-issue entry': proseFields(sentence('Sub-issue entry', 'Fields, all strings unless stated:'), 'string'),
  Comment: tableFields('Comment'),
  'Agent thread': proseFields(sentence('Agent thread', 'Fields:')),
  'Agent thread message': proseFields(sentence('Agent thread message', 'Fields:')),
  Team: team,
  'Team detail': [...team, ...proseFields(sentence('Team', 'The detail response adds'))],
  'Repository context': proseFields(sentence('Repository context', 'Fields:')),
  Project: project,
  'Project detail': [...project, ...proseFields(sentence('Project', 'Detail: the same fields, plus'))],
  Member: proseFields(sentence('Member', 'Fields:')),
};

/** The tables of bodies, by endpoint. */
export const bodyTables: Readonly<Record<string, readonly Record<string, string>[]>> = (() => {
  const [, create = [], update = []] = tablesOf(sectionOf('Issue mutations (scope issues:write)'));
  const [, message = []] = tablesOf(sectionOf('Issue links and comments (scope issues:write)'));
  return {
    'POST /v1/issues': create,
    'PATCH /v1/issues/{issueKey}': update,
    'POST /v1/issues/{issueKey}/agent-thread/messages': message,
  };
})();

const endpointHeadings = [...sections.keys()].filter(
  (heading) => heading.includes('(scope ') || heading.startsWith('Health'),
);

/** Every endpoint, in the order of the specification. */
export const endpoints: readonly SpecifiedEndpoint[] = endpointHeadings.flatMap((heading) => {
  const rows = tablesOf(sectionOf(heading)).flat();
  return rows
    .filter(({ Method }) => Method !== undefined)
    .map((row) => ({
      method: row['Method'] ?? '',
      path: row['Path'] ?? '',
      scope: /scope ([\w:]+)/.exec(heading)?.[1],
      parameters: parametersOf(row['Query parameters'] ?? ''),
      success: row['Success response'] ?? row['Behavior'] ?? '',
      body: row['Request body'] ?? row['Request'] ?? '',
    }));
});

function parametersOf(cell: string): { name: string; note: string }[] {
  if (cell === '' || cell === 'none') return [];
  return cell.split(/,\s*(?![^(]*\))/).map((item) => {
    const [, name = '', note = ''] = /^(\w+)(?: \((.*)\))?$/.exec(item.trim()) ?? [];
    return { name, note };
  });
}
