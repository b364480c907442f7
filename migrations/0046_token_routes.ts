import { type Kysely, sql } from 'kysely';

/**
 * The workspace of each token, by the hash of the token. A request names no workspace, so this look-up is the only one that
 * cannot start from a workspace: where tables are distributed by workspace, every node has a copy of this one.
 *
 * The trigger adds the tokens that an earlier version issues, and those of a restored backup.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`set local lock_timeout = '10s'`.execute(db);
  await sql`create table token_route (token_hash bytea primary key, workspace_id uuid not null)`.execute(db);
  await sql`
    create function route_token() returns trigger language plpgsql as $body$
    begin
      insert into token_route (token_hash, workspace_id) values (new.token_hash, new.workspace_id) on conflict do nothing;
      return null;
    end
    $body$`.execute(db);
  await sql`
    create trigger access_token_routed after insert on access_token
      for each row execute function route_token()`.execute(db);
  await sql`
    insert into token_route (token_hash, workspace_id)
    select token_hash, workspace_id from access_token on conflict do nothing`.execute(db);
}
