import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import pg from 'pg';
import { crowdedComments, crowds } from './crowds.ts';
import { directory } from './directory.ts';
import { functions } from './functions.ts';
import { issues, surroundings } from './issues.ts';
import { deletedIssues, skewedIssues } from './skewed.ts';
import { stages, stagesBefore } from './stages.ts';
import { tallies } from './tallies.ts';
import { views } from './views.ts';

/** The token with all scopes that all contenders are called with. */
export const token = 'wg_benchmark_token_of_all_scopes_000000000000';
const scopes = [
  'issues:read',
  'issues:write',
  'teams:read',
  'projects:read',
  'members:read',
  'workspace:admin',
];

export const teams = 50;

/** Must be increased with each change of the data, so that an old cluster is detected. Skewed data has versions from 1,001, with crowds from 2,001. */
export const version = 5;
const skewedVersion = 1_004;
const crowdedVersion = 2_001;

/** How many issues there are, and whether they are skewed. */
export interface DatasetSize {
  readonly issues: number;
  readonly isSkewed: boolean;
  /** Whether skewed issues also have crowds of comments, files and so on (`crowds.ts`). */
  readonly isCrowded?: boolean;
}

/** Migrates the database as the checkout wants it, and fills it unless it already has the same data. */
export async function fill(
  { url, checkout }: { url: string; checkout: string },
  filling: DatasetSize,
  say: (line: string) => void,
): Promise<void> {
  const wanted = versionOf(filling);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const found = await filled(client);
    if (found && (found.issues !== filling.issues || found.version !== wanted)) {
      throw new Error(
        `The database holds a benchmark of ${found.issues} issues (version ${found.version}): use --fresh to rebuild it.`,
      );
    }
    migrate(url, checkout);
    if (!found) {
      say(`filling ${filling.issues} issues …`);
      await fillWith(client, filling);
    }
    await client.query(views);
  } finally {
    await client.end();
  }
}

function versionOf({ isSkewed, isCrowded }: DatasetSize): number {
  if (!isSkewed) return version;
  return isCrowded ? crowdedVersion : skewedVersion;
}

/** Migrates the schema, including that of a cluster of an earlier run, with the command of a checkout of the product. */
export function migrate(url: string, checkout: string): void {
  execFileSync(process.execPath, [join(checkout, 'bin', 'workgraph.js'), 'migrate'], {
    env: { ...process.env, DATABASE_URL: url },
    // The output is only shown in the error if it fails.
    stdio: 'pipe',
  });
}

export async function postgresVersion(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ server_version: string }>('show server_version');
  await client.end();
  return rows[0]?.server_version ?? '';
}

async function filled(client: pg.Client): Promise<{ issues: number; version: number } | undefined> {
  const table = await client.query(`select to_regclass('bench.filled') is not null as is_there`);
  if (!table.rows[0].is_there) return undefined;
  return (await client.query('select issues, version from bench.filled')).rows[0];
}

/** Fills an empty database that has the schema of a checkout. */
export async function fillWith(client: pg.Client, filling: DatasetSize): Promise<void> {
  const { issues: issueCount, isSkewed, isCrowded = false } = filling;
  // Whatever their number, the issues are from the time between 2024 and October 2026.
  const step = `interval '${(1030 * 86_400) / issueCount} seconds'`;
  const hash = createHash('sha256').update(token).digest('hex');
  const names: Record<string, string> = {
    teams: String(teams),
    issues: String(issueCount),
    comments: isSkewed ? '(n % 7 = 0)::int' : `bench.comments_of(n / ${teams})`,
    step,
    tokenHash: `'\\x${hash}'::bytea`,
    scopes: `array[${scopes.map((scope) => `'${scope}'`).join(', ')}]`,
  };
  const bind = (sql: string) =>
    sql.replaceAll(/(?<!:):([a-zA-Z]+)/g, (whole, name: string) => names[name] ?? whole);
  await client.query('begin');
  await client.query("set local timezone = 'UTC'");
  // The rows are valid by construction, and checking 3 million foreign keys would take longer than inserting the rows.
  await client.query('savepoint replica');
  await client
    .query('set local session_replication_role = replica')
    .catch(() => client.query('rollback to savepoint replica'));
  const indexes = await dropIndexes(client);
  const filled = [
    isSkewed ? skewedIssues : issues,
    isCrowded ? crowdedComments : '',
    surroundings,
    isSkewed ? deletedIssues : '',
    isCrowded ? crowds : '',
  ];
  for (const statement of [functions, directory, ...filled]) await client.query(bind(statement));
  // An earlier checkout may not know them yet.
  for (const [table, rows] of Object.entries({
    issue_stage: stages,
    issue_text: texts,
    issue_tally: tallies,
  })) {
    const { rows: found } = await client.query('select to_regclass($1) is not null as known', [table]);
    if (found[0].known) await client.query(rows);
  }
  const previousColumns = await client.query(
    `select from information_schema.columns where table_name = 'issue_stage' and column_name = 'previous_deleted'`,
  );
  if (previousColumns.rowCount === 1) await client.query(stagesBefore);
  for (const { definition } of indexes) await client.query(definition);
  await client.query('create table bench.filled (issues int not null, version int not null)');
  await client.query('insert into bench.filled values ($1, $2)', [issueCount, versionOf(filling)]);
  await client.query('commit');
  await client.query('vacuum (analyze, freeze)');
}

const texts = `insert into issue_text (workspace_id, issue_id, title_fold) select workspace_id, id, title_fold from issue`;

/**
 * Drops the indexes of the large tables, except those of constraints. Building them afterwards takes a tenth of the
 * time.
 */
async function dropIndexes(client: pg.Client): Promise<{ definition: string }[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(`
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
    from pg_index i left join pg_constraint c on c.conindid = i.indexrelid
    where i.indrelid in ('issue'::regclass, 'comment'::regclass, 'activity'::regclass, 'issue_label'::regclass,
      'issue_assignee'::regclass, 'issue_subscription'::regclass, to_regclass('issue_text')) and c.oid is null`);
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows;
}
