import { describe, expect, it } from '@jest/globals';
import { runImport } from '../../src/cli/import.ts';
import { beadsContent } from '../../src/cli/import/beads.ts';
import { ndjsonContent } from '../../src/cli/import/ndjson.ts';
import { cleanIssue } from '../../src/portability/import/import-clean.ts';
import type { LineContent } from '../../src/portability/import/import-issue.ts';
import { bead, exported, useImportWorld } from './import-world.ts';

const line = { _type: 'issue', key: 'BD-1', title: 'One', createdUtc: '2026-01-02T03:04:05Z' };
const nowUtc = new Date('2026-01-03T00:00:00Z');

function warningsOf(content: LineContent): readonly string[] {
  if (content.kind !== 'issue') throw new Error(`It is ${content.kind}.`);
  return content.warnings ?? [];
}

function cleaned(values: Record<string, unknown>) {
  const content = ndjsonContent({ ...line, ...values });
  if (content.kind !== 'issue') throw new Error(`It is ${content.kind}.`);
  const clean = cleanIssue(content.issue, nowUtc);
  if ('refused' in clean) throw new Error(clean.refused);
  return clean;
}

describe('a value that is there and cannot be read', () => {
  it.each([
    ['dueDate', '2026-02-31', 'dueDate: "2026-02-31" is not a date'],
    ['dueDate', '31.02.2026', 'dueDate: "31.02.2026" is not a date'],
    ['dueDate', '99999-01-01', 'dueDate: "99999-01-01" is not a date'],
    ['closedUtc', '2026-02-31T10:00:00Z', 'closedUtc: "2026-02-31T10:00:00Z" is not a time'],
    ['updatedUtc', 5, 'updatedUtc: 5 is not a time'],
    ['createdUtc', 'yesterday', 'createdUtc: "yesterday" is not a time'],
    ['description', 5, 'description: 5 is not a text'],
    ['description', ['x'.repeat(500)], /^description: \["x{57}… is not a text/],
    ['estimateValue', '5', 'estimateValue: "5" is not a number'],
    ['priority', 'utmost', 'priority: "utmost" is not one of none, urgent'],
    ['status', 5, 'status: 5 is not a text'],
    ['status', { name: 'Todo', category: 'begun' }, 'status.category: "begun" is not one of backlog'],
    ['labels', 'bug', 'labels: "bug" is not a list'],
    ['labels', ['bug', 5], 'labels[1]: 5 is not a text'],
    ['reporter', 5, 'reporter: 5 is not a person'],
    ['assignees', [{ name: 'Ann' }], 'assignees[0]: {"name":"Ann"} is not a person'],
    ['delivery', 'third', 'delivery: "third" is not the number of a delivery'],
    ['comments', [{ body: 'a', createdUtc: 'today' }], 'comments[0].createdUtc: "today" is not a time'],
    ['comments', ['a'], 'comments[0]: "a" is not an object'],
    ['links', {}, 'links: {} is not a list'],
    ['roleAssignments', [{ role: 5, member: 'Ann' }], 'roleAssignments[0].role: 5 is not a text'],
    ['activity', [{ occurredUtc: 1 }], 'activity[0].occurredUtc: 1 is not a time'],
    ['stages', [{ delivery: -1 }], 'stages[0].delivery: -1 is not a whole number'],
    ['stages', [{ deleted: 'no' }], 'stages[0].deleted: "no" is not true or false'],
    ['agentThread', 'Hello', 'agentThread: "Hello" is not an object'],
    [
      'agentThread',
      { messages: [{ authorType: 'cat' }] },
      'agentThread.messages[0].authorType: "cat" is not',
    ],
  ])('is named by a warning in lines of workgraph: %s %j', (name, value, warning) => {
    const expected =
      typeof warning === 'string' ? expect.stringContaining(warning) : expect.stringMatching(warning);
    expect(warningsOf(ndjsonContent({ ...line, [name]: value }))).toEqual([expected]);
  });

  it.each([
    ['due_at', '2026-02-31', 'due_at: "2026-02-31" is not a date'],
    ['closed_at', 5, 'closed_at: 5 is not a time'],
    ['updated_at', 'x', 'updated_at: "x" is not a time'],
    ['description', 5, 'description: 5 is not a text'],
    ['labels', 'notalist', 'labels: "notalist" is not a list'],
    ['created_by', {}, 'created_by: {} is not a person'],
    ['dependencies', {}, 'dependencies: {} is not a list'],
    ['comments', [{ id: {}, text: 'a' }], 'comments[0].id: {} is not a text or a number'],
  ])('is named by a warning in lines of beads: %s %j', (name, value, warning) => {
    expect(warningsOf(beadsContent(bead('a', { [name]: value })))).toEqual([
      expect.stringContaining(warning),
    ]);
  });

  it('is distinguished from one that is missing, null or blank', () => {
    for (const name of [
      'dueDate',
      'status',
      'labels',
      'reporter',
      'comments',
      'delivery',
      'createdUtc',
      'closedUtc',
    ]) {
      expect(warningsOf(ndjsonContent({ ...line, [name]: null }))).toEqual([]);
      expect(warningsOf(ndjsonContent({ ...line, [name]: '' }))).toEqual([]);
    }
  });
});

describe('a list that is too long, or a name', () => {
  const people = (count: number) => Array.from({ length: count }, (_, index) => `Person ${index}`);

  it('is cut, with a warning that says how much is left', () => {
    const actions = Array.from({ length: 12 }, (_, index) => ({
      name: 'n'.repeat(index + 250),
      key: 'k',
      color: 'red',
    }));
    const { issue, warnings } = cleaned({
      reporter: 'R'.repeat(300),
      assignees: people(51),
      roleAssignments: [...people(52), 'again', ''].map((member, index) => ({
        role: index === 0 ? 'r'.repeat(51) : member.slice(0, 50),
        member: member || 'Ann',
      })),
      agentThread: { messages: [{ body: 'Hello', followUpActions: actions }] },
    });
    expect(issue.assignees).toHaveLength(50);
    expect(issue.roleAssignments).toHaveLength(50);
    expect(issue.agentThread?.messages[0]?.followUpActions).toHaveLength(10);
    expect([...new Set(warnings)].toSorted()).toEqual([
      'a role was cut to 50 characters',
      'only the first 10 of 12 follow-up actions of message 1 of the agent thread are imported',
      'only the first 50 of 51 assignees are imported',
      'only the first 50 of 53 role assignments are imported',
      'the name of a follow-up action of message 1 of the agent thread was cut to 255 characters',
      'the name of a person was cut to 255 characters',
    ]);
  });
});

describe('a text that the API refuses', () => {
  it('loses its byte-order mark, with a warning', () => {
    const { issue, warnings } = cleaned({
      description: '\uFEFFWords\uFEFF',
      comments: [{ id: '1', body: '\uFEFFHello' }],
    });
    expect([issue.description, issue.comments[0]?.body]).toEqual(['Words\uFEFF', 'Hello']);
    expect(warnings).toEqual(['a byte-order mark at the beginning of a text was removed']);
  });

  it('is no e-mail address of a person, with a warning', () => {
    const ann = { displayName: 'Ann', emailAddress: 'not an address' };
    const { issue, warnings } = cleaned({ reporter: ann, comments: [{ body: 'Hello', author: ann }] });
    expect([issue.reporter, issue.comments[0]?.author]).toEqual([{ name: 'Ann' }, { name: 'Ann' }]);
    expect(new Set(warnings)).toEqual(
      new Set(['the e-mail address "not an address" of Ann is not valid and is left out']),
    );
  });
});

describe('an import', () => {
  const suite = useImportWorld();
  const header = { _type: 'header', format: 'workgraph', version: 1, workspace: { id: 'x', name: 'X' } };
  const imported = async (lines: readonly object[], team?: string) => {
    const file = suite.world.write('a.ndjson', [header, ...lines]);
    const args = { file, from: 'ndjson', workspace: suite.name, team };
    const { exitCode, stderr } = await suite.world.run((env) => runImport(env, args));
    return { exitCode, warnings: stderr.split('\n').filter((text) => text.startsWith('line ')) };
  };

  it('warns of a status that the team does not have, unless the line says its category', async () => {
    const lines = [
      { ...line, status: 'Pondering' },
      { ...line, key: 'BD-2', status: 'todo' },
      { ...line, key: 'BD-3', status: { name: 'Pondering', category: 'open' } },
    ];
    expect(await imported(lines)).toEqual({
      exitCode: 0,
      warnings: ['line 2: the team has no status "Pondering"; the issue gets "Todo"'],
    });
  });

  it('shows control characters of the file as escapes, which can forge no line of its output', async () => {
    const parent = '\u001B[2J\u0007\nline 9 refused: forged';
    expect((await imported([{ ...line, key: 'BD-7', status: parent, parent }])).warnings).toEqual([
      expect.stringContaining(String.raw`"\u001b[2J\u0007\u000aline 9 refused: forged"`),
      expect.stringContaining(String.raw`\u001b[2J\u0007\u000aline 9 refused: forged`),
    ]);
  });

  it('refuses a key that names no team, if neither the line nor the command does', async () => {
    const lines = [
      { ...line, key: 'ABC' },
      { ...line, key: '-5' },
      { ...line, key: 'XYZ', team: 'BD' },
    ];
    const refused = { exitCode: 1, warnings: [2, 3].map((n) => `line ${n} refused: its key names no team`) };
    expect(await imported(lines)).toEqual(refused);
    expect(await imported(lines, 'BD')).toEqual({ exitCode: 0, warnings: [] });
    expect(await exported(suite.world, suite.name)).toHaveLength(1 + 1 + 3);
  });

  it('reports a repeated warning of a line once, with its count, and lists only the first of many', async () => {
    const comments = Array.from({ length: 3_000 }, (_, index) => ({ id: '1', body: `Comment ${index}` }));
    const blank = Array.from({ length: 100 }, () => ({ body: ' ' }));
    const lines = [
      { ...line, comments },
      { ...line, key: 'BD-2', comments: blank },
    ];
    const { warnings } = await imported(lines);
    expect(warnings[0]).toBe('line 2: a comment with the id of another comment is skipped (2999 times)');
    expect(warnings[20]).toBe('line 3: comment 20 is empty and skipped');
    expect(warnings.slice(21)).toEqual(['line 3: and 80 other warnings']);
  });

  it('names only the first of the values in a list that cannot be read, and counts the others', async () => {
    const labels = Array.from({ length: 1_000 }, (_, index) => index);
    const comments = [
      { body: 'a' },
      { body: 'b', createdUtc: 1 },
      { body: ' ' },
      { body: 'd', createdUtc: 2 },
    ];
    const { warnings } = await imported([{ ...line, labels, comments }]);
    expect(warnings).toEqual([
      'line 2: labels[0]: 0 is not a text and is left out (the first of 1000)',
      'line 2: comments[1].createdUtc: 1 is not a time and is left out (the first of 2)',
      'line 2: comment 3 is empty and skipped',
    ]);
  });
});
