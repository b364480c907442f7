import pg from 'pg';
import { typeId } from './servers/type-id.ts';
import { teams } from './dataset/fill.ts';

/** A team and the rows that its issues can refer to, with the product's ids. */
export interface TeamFacts {
  readonly id: string;
  readonly code: string;
  readonly projectIds: readonly string[];
  readonly deliveryIds: readonly string[];
  /** The statuses that are not terminal. */
  readonly openStatusIds: readonly string[];
  readonly memberUserAccountIds: readonly string[];
  readonly labelIds: readonly string[];
}

/**
 * The data that requests are made from. Reads and writes use different teams, so that the results of reads never
 * change.
 */
export interface Facts {
  readonly readTeams: readonly TeamFacts[];
  readonly writeTeams: readonly TeamFacts[];
  /** The issues with at least 30 comments in the teams that are read. */
  readonly commentedKeys: readonly string[];
  readonly discussedKeys: readonly string[];
  /** The issues that writes change. */
  readonly writeKeys: readonly string[];
  readonly issueCount: number;
  /** Positions in the list of all issues, oldest first, near row 190,000, or near nine tenths of a smaller list. */
  readonly deep: readonly { createdUtc: string; id: string; row: number }[];
}

const writeTeamCount = 10;

export async function readFacts(url: string): Promise<Facts> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const all = await teamFacts(client);
    const readTeams = all.slice(0, teams - writeTeamCount);
    const writeTeams = all.slice(teams - writeTeamCount);
    const codes = readTeams.map(({ code }) => code);
    const issueCount = (await client.query('select issues from bench.filled')).rows[0].issues as number;
    return {
      readTeams,
      writeTeams,
      commentedKeys: await keys(client, codes, 'i.comment_count >= 30'),
      discussedKeys: await keys(client, codes, 'i.comment_count >= 130'),
      writeKeys: await keys(
        client,
        writeTeams.map(({ code }) => code),
        'i.number <= 400',
      ),
      issueCount,
      deep: await deepPositions(client, issueCount),
    };
  } finally {
    await client.end();
  }
}

async function teamFacts(client: pg.Client): Promise<TeamFacts[]> {
  const list = (table: string, where: string, column = 'id') =>
    `(select array_agg(x.${column} order by x.${column}) from ${table} x where x.team_id = t.id and ${where})`;
  const { rows } = await client.query(`
    select t.id, t.code, ${list('project', 'true')} as projects, ${list('delivery', 'true')} as deliveries,
      ${list('status', 'not x.is_terminal')} as statuses, ${list('label', 'true')} as labels,
      ${list('team_member', 'true', 'user_account_id')} as members
    from team t order by t.code`);
  return rows.map((row) => ({
    id: typeId('team', row.id),
    code: row.code,
    projectIds: row.projects.map((id: string) => typeId('project', id)),
    deliveryIds: row.deliveries.map((id: string) => typeId('delivery', id)),
    openStatusIds: row.statuses.map((id: string) => typeId('status', id)),
    memberUserAccountIds: row.members.map((id: string) => typeId('user', id)),
    labelIds: row.labels.map((id: string) => typeId('label', id)),
  }));
}

async function keys(client: pg.Client, codes: string[], where: string): Promise<string[]> {
  const { rows } = await client.query(
    `select t.code || '-' || i.number as key from issue i join team t on t.id = i.team_id
     where t.code = any($1) and i.deleted_utc is null and ${where} order by i.number, t.code`,
    [codes],
  );
  return rows.map(({ key }) => key);
}

async function deepPositions(client: pg.Client, issueCount: number): Promise<Facts['deep']> {
  const row = Math.min(190_000, Math.floor(issueCount * 0.9));
  const { rows } = await client.query(
    `select to_char(created_utc at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, id from issue
     where deleted_utc is null order by created_utc, id offset $1 limit 64`,
    [row - 1],
  );
  return rows.map(({ at, id }, index) => ({ createdUtc: at, id: typeId('issue', id), row: row + index }));
}
