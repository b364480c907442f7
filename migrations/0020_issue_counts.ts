import { type Kysely, sql } from 'kysely';

/**
 * How many living issues a team has, without counting them: the numbers that its counter has given, less those whose
 * issue was deleted (and perhaps purged after). New issues change nothing but the counter, as before; a trigger sees the
 * others, so that servers of the version before may go on deleting.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`set local lock_timeout = '10s'`.execute(db);
  await sql`
    alter table team_counter
      add column gone_issue_count integer not null default 0,
      add column issue_count integer not null generated always as (next_issue_number - 1 - gone_issue_count) stored`.execute(
    db,
  );
  await sql`
    create function issue_came_or_went() returns trigger language plpgsql as $body$
    begin
      update team_counter
        set gone_issue_count = gone_issue_count + case when tg_op = 'DELETE' or new.deleted_utc is not null then 1 else -1 end
        where workspace_id = old.workspace_id and team_id = old.team_id;
      return null;
    end
    $body$`.execute(db);
  await sql`
    create trigger issue_deleted_or_restored after update of deleted_utc on issue for each row
      when ((old.deleted_utc is null) <> (new.deleted_utc is null))
      execute function issue_came_or_went()`.execute(db);
  await sql`
    create trigger issue_removed after delete on issue for each row
      when (old.deleted_utc is null)
      execute function issue_came_or_went()`.execute(db);
  // The triggers wait for all who write issues, and hold up the next ones until this is committed.
  await sql`
    update team_counter c set gone_issue_count = next_issue_number - 1 - (
      select count(*) from issue i
      where i.workspace_id = c.workspace_id and i.team_id = c.team_id and i.deleted_utc is null
    )`.execute(db);
}
