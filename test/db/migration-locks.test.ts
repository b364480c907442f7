import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

// A migration must not block writers of a table with a million rows.

/** The tables that grow with the activity of a workspace. */
const large =
  'issue|issue_assignee|issue_label|issue_subscription|issue_role_assignment|comment|issue_link|attachment|activity|' +
  'issue_stage|issue_text|agent_thread_message|import_source|idempotency_key';

const rules: readonly { readonly problem: string; readonly pattern: RegExp }[] = [
  {
    problem: 'locks the table while it builds',
    pattern: /create (?:unique )?index (?:if not exists )?\w+\s+on (\w+)/gi,
  },
  {
    problem: 'writes all rows in one transaction',
    pattern: new RegExp(`(?:update|delete from) (${large})\\b`, 'gi'),
  },
  {
    problem: 'rewrites or reads the table while it is locked',
    pattern: new RegExp(
      `alter table (${large})\\b[^;\`]*?(?:alter column \\w+ (?:set data )?type|set not null|generated always|default \\w+\\(|add (?:constraint|foreign key|check|unique|primary key)(?![^;\`]*not valid))`,
      'gi',
    ),
  },
];

/** The statements of a migration on existing tables that block other writers. Bodies of functions run later. */
function blocking(migration: string): string[] {
  const source = migration.replaceAll(/\$body\$.*?\$body\$/gs, '');
  const found = rules.flatMap(({ problem, pattern }) =>
    [...source.matchAll(pattern)]
      .filter(([, table]) => !source.includes(`create table ${table} `))
      .map(([statement]) => `${statement.replaceAll(/\s+/g, ' ')}: ${problem}`),
  );
  const isAltered = new RegExp(`alter table (${large})\\b`, 'i').test(source);
  return isAltered && !source.includes('lock_timeout')
    ? [...found, 'alter table without a lock_timeout: every writer waits behind it']
    : found;
}

it.each([
  ['create index thing on issue (id)', 'create index thing on issue: locks the table while it builds'],
  ['update comment set body = null', 'update comment: writes all rows in one transaction'],
  [
    "set lock_timeout = '1s'; alter table issue alter column title set not null",
    'alter table issue alter column title set not null: rewrites or reads the table while it is locked',
  ],
  [
    "set lock_timeout = '1s'; alter table issue add constraint positive check (number > 0)",
    'alter table issue add constraint: rewrites or reads the table while it is locked',
  ],
  [
    'alter table issue add column started_utc timestamptz',
    'alter table without a lock_timeout: every writer waits behind it',
  ],
])('the check refuses %s', (source, problem) => {
  expect(blocking(source)).toEqual([problem]);
});

it.each([
  'create table fresh (id uuid); create index thing on fresh (id)',
  "set lock_timeout = '1s'; alter table issue add column other integer default 0",
  "set lock_timeout = '1s'; alter table issue add constraint positive check (number > 0) not valid",
  'create function one() returns trigger as $body$ begin update issue set revision = 1; end $body$',
])('the check accepts %s', (source) => {
  expect(blocking(source)).toEqual([]);
});

it('no migration from 27 on blocks writers of a large table', () => {
  const folder = join(import.meta.dirname, '../../migrations');
  const files = readdirSync(folder).filter((file) => Number(file.slice(0, 4)) >= 27);
  const found = files.flatMap((file) => {
    const source = readFileSync(join(folder, file), 'utf8');
    // Such a migration runs outside of a transaction, some thousand rows at a time.
    return source.includes('export async function fillSome')
      ? []
      : blocking(source).map((each) => `${file}: ${each}`);
  });
  expect(found).toEqual([]);
  expect(files).not.toEqual([]);
});
