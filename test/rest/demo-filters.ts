import { fold } from '../../src/model/fold.ts';
import { at, type Row } from './demo-lists.ts';

/** All rows of the demo that the graph returns, by the path of their list. Filled before the cases are built. */
export const rows: Record<string, Row[]> = {};

/** A query with ids of the demo, and a predicate for the rows that it must return. */
export type Case = readonly [string, () => { path: string; query: string; keep: (row: Row) => boolean }];

/** Two values that occur in a column of the rows. */
function valuesOf(path: string, column: string, list = false): [string, string] {
  const found = new Set(
    (rows[path] ?? []).flatMap((row) => (list ? (at(row, column) as string[]) : [at(row, column)])),
  );
  const [first = '', second = ''] = [...found].filter((value) => typeof value === 'string');
  return [first, second];
}

/** A repeated filter by a column: rows with either value match. */
const repeated =
  (path: string, parameter: string, column: string, list = false, spell = (value: string) => value) =>
  () => {
    const values = valuesOf(path, column, list);
    const keep = (row: Row) => {
      const own = list ? (at(row, column) as string[]) : [at(row, column)];
      return values.some((value) => own.includes(value));
    };
    return { path, query: values.map((value) => `${parameter}=${spell(value)}`).join('&'), keep };
  };

const filterCase = (path: string, query: () => string, keep: (row: Row) => boolean) => () => ({
  path,
  query: query(),
  keep,
});

const lower = (text: string) => text.toLowerCase();
const contains = (row: Row, column: string, text: string) =>
  fold((at(row, column) as string | null) ?? '').includes(fold(text));
const firstLead = () => valuesOf('/v1/projects', 'leadUserAccountId')[0];
const firstTeam = (path: string) => valuesOf(path, 'team.code')[0];

/** Every filter of the three lists, with an equivalent predicate in JavaScript. */
export const cases: readonly Case[] = [
  ['a label', repeated('/v1/projects', 'label_id', 'labelIds', true)],
  ['a lead', repeated('/v1/projects', 'lead_user_account_id', 'leadUserAccountId')],
  ['a status', repeated('/v1/projects', 'status_id', 'statusId')],
  ['a team', repeated('/v1/projects', 'team_id', 'teamId')],
  ['a priority by name', repeated('/v1/projects', 'priority', 'priority', false, lower)],
  [
    'a priority by number',
    filterCase(
      '/v1/projects',
      () => 'priority=2&priority=0',
      (row) => ['HIGH', 'NONE'].includes(String(row['priority'])),
    ),
  ],
  [
    'the code of a team in any case',
    filterCase(
      '/v1/projects',
      () => `team_code=${lower(firstTeam('/v1/projects'))}`,
      (row) => at(row, 'team.code') === firstTeam('/v1/projects'),
    ),
  ],
  [
    'no lead left out',
    filterCase(
      '/v1/projects',
      () => 'include_no_lead=false',
      (row) => row['leadUserAccountId'] !== null,
    ),
  ],
  [
    'no lead let in',
    filterCase(
      '/v1/projects',
      () => 'include_no_lead=true',
      () => true,
    ),
  ],
  [
    'a lead or none',
    filterCase(
      '/v1/projects',
      () => `lead_user_account_id=${firstLead()}&include_no_lead=true`,
      (row) => [firstLead(), null].includes(row['leadUserAccountId'] as string | null),
    ),
  ],
  [
    'a lead and not none',
    filterCase(
      '/v1/projects',
      () => `lead_user_account_id=${firstLead()}&include_no_lead=false`,
      (row) => row['leadUserAccountId'] === firstLead(),
    ),
  ],
  ['a role', repeated('/v1/members', 'role', 'role', false, lower)],
  ['a status', repeated('/v1/members', 'status', 'status', false, lower)],
  ['a team', repeated('/v1/members', 'team_id', 'teamIds', true)],
  [
    'the code of a team and the id of another: in both',
    () => {
      const path = '/v1/members';
      const member = rows[path]?.find((row) => (row['teamIds'] as string[]).length > 1);
      const [, second = ''] = (member?.['teamIds'] ?? []) as string[];
      const codes = (row: Row) => (at(row, 'teams.nodes') as { code: string }[]).map(({ code }) => code);
      const [code = ''] = member ? codes(member) : [];
      const keep = (row: Row) => codes(row).includes(code) && (row['teamIds'] as string[]).includes(second);
      return { path, query: `team_code=${code}&team_id=${second}`, keep };
    },
  ],
  [
    'a text in name or address',
    filterCase(
      '/v1/members',
      () => 'query=AN',
      (row) => contains(row, 'displayName', 'an') || contains(row, 'emailAddress', 'an'),
    ),
  ],
  ['a team', repeated('/v1/issues', 'team_id', 'teamId')],
  ['a status', repeated('/v1/issues', 'status_id', 'statusId')],
  ['a category', repeated('/v1/issues', 'status_category', 'status.category', false, lower)],
  ['a project', repeated('/v1/issues', 'project_id', 'projectId')],
  ['a delivery', repeated('/v1/issues', 'delivery_id', 'deliveryId')],
  ['a label', repeated('/v1/issues', 'label_id', 'labelIds', true)],
  ['a parent', repeated('/v1/issues', 'parent_issue_id', 'parentIssueId')],
  ['a reporter', repeated('/v1/issues', 'reporter_user_account_id', 'reporterUserAccountId')],
  [
    'a primary assignee',
    repeated('/v1/issues', 'primary_assignee_user_account_id', 'primaryAssigneeUserAccountId'),
  ],
  ['an assignee', repeated('/v1/issues', 'assignee_user_account_id', 'assigneeUserAccountIds', true)],
  ['a priority', repeated('/v1/issues', 'priority', 'priority', false, lower)],
  [
    'what is not completed',
    filterCase(
      '/v1/issues',
      () => 'include_completed=false',
      (row) => at(row, 'status.isTerminal') === false,
    ),
  ],
  [
    'a text',
    filterCase(
      '/v1/issues',
      () => 'query=THE',
      (row) => contains(row, 'title', 'the'),
    ),
  ],
  [
    'a project’s key, in a team',
    filterCase(
      '/v1/issues',
      () => `project_key=${lower(valuesOf('/v1/issues', 'project.key')[0])}`,
      (row) => at(row, 'project.key') === valuesOf('/v1/issues', 'project.key')[0],
    ),
  ],
  [
    'a team’s code',
    filterCase(
      '/v1/issues',
      () => `team_code=${lower(firstTeam('/v1/issues'))}`,
      (row) => at(row, 'team.code') === firstTeam('/v1/issues'),
    ),
  ],
  ...(['created', 'updated', 'closed'] as const).map(
    (moment): Case => [
      `when it was ${moment}, both ends included`,
      () => {
        const path = '/v1/issues';
        const times = (rows[path] ?? [])
          .flatMap((row) => row[`${moment}Utc`] ?? [])
          .map(String)
          .toSorted();
        const [from = '', to = ''] = [
          times[Math.floor(times.length / 4)],
          times[Math.floor(times.length / 2)],
        ];
        const keep = (row: Row) => {
          const time = row[`${moment}Utc`];
          return typeof time === 'string' && time >= from && time <= to;
        };
        return { path, query: `${moment}_from_utc=${from}&${moment}_to_utc=${to}`, keep };
      },
    ],
  ),
  [
    'the day that it is due',
    () => {
      const path = '/v1/issues';
      const days = (rows[path] ?? [])
        .flatMap((row) => row['dueDate'] ?? [])
        .map(String)
        .toSorted();
      const [from = '', to = ''] = [days[1], days[Math.floor(days.length / 2)]];
      const keep = ({ dueDate }: Row) => typeof dueDate === 'string' && dueDate >= from && dueDate <= to;
      return { path, query: `due_from=${from}&due_to=${to}`, keep };
    },
  ],
];
