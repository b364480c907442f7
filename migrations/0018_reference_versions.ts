import { type Kysely, sql } from 'kysely';

/**
 * Tables that are small, hot and seldom written, which each process keeps in memory, with the column whose rows are
 * read again together when one of them changes. Counters that change with each issue stand in tables of their own.
 */
const kept = {
  member: 'id',
  team: 'id',
  team_member: 'team_id',
  status: 'id',
  label: 'id',
  delivery: 'id',
  project_status: 'id',
  project: 'id',
  project_member: 'project_id',
  project_label: 'project_id',
} as const;

/**
 * The version of a workspace's reference data. It is counted under the lock of its row, at the commit of each
 * transaction that changed some: so versions are given in the order of the commits, which a sequence would not do.
 * `tag` tells two histories apart that came to the same number (a failover to a replica that lagged, a restore);
 * `auth` changes with what a token may do. `…_xact` are the transactions that counted last: each counts once.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table workspace_version (
      workspace_id uuid primary key references workspace,
      ref bigint not null default 0,
      tag bigint not null default 0,
      auth bigint not null default 0,
      ref_xact xid8,
      auth_xact xid8
    ) with (fillfactor = 30)`.execute(db);
  await sql`
    create table reference_change (
      workspace_id uuid not null references workspace,
      version bigint not null,
      tag bigint not null,
      kept_table text collate "C" not null,
      group_id uuid not null,
      primary key (workspace_id, version, kept_table, group_id)
    )`.execute(db);

  // The argument is the column that groups the rows of the table.
  await sql`
    create function reference_changed() returns trigger language plpgsql as $body$
    declare
      changed jsonb[] := array[]::jsonb[];
      each_row jsonb;
      workspace uuid;
      counted workspace_version;
    begin
      if tg_op <> 'INSERT' then changed := changed || to_jsonb(old); end if;
      if tg_op <> 'DELETE' then changed := changed || to_jsonb(new); end if;
      foreach each_row in array changed loop
        workspace := (each_row ->> 'workspace_id')::uuid;
        insert into workspace_version as v (workspace_id, ref, tag, ref_xact)
          values (workspace, 1, (random() * 9e15)::bigint, pg_current_xact_id())
          on conflict (workspace_id) do update
            set ref = v.ref + 1, tag = excluded.tag, ref_xact = excluded.ref_xact
            where v.ref_xact is distinct from excluded.ref_xact;
        select * into strict counted from workspace_version where workspace_id = workspace;
        insert into reference_change (workspace_id, version, tag, kept_table, group_id)
          values (workspace, counted.ref, counted.tag, tg_table_name, (each_row ->> tg_argv[0])::uuid)
          on conflict do nothing;
        perform pg_notify('workgraph_reference', workspace::text);
      end loop;
      return null;
    end $body$`.execute(db);
  await sql`
    create function authority_changed() returns trigger language plpgsql as $body$
    declare
      workspace uuid;
    begin
      if tg_op = 'DELETE' then workspace := old.workspace_id; else workspace := new.workspace_id; end if;
      insert into workspace_version as v (workspace_id, auth, auth_xact)
        values (workspace, 1, pg_current_xact_id())
        on conflict (workspace_id) do update set auth = v.auth + 1, auth_xact = excluded.auth_xact
          where v.auth_xact is distinct from excluded.auth_xact;
      perform pg_notify('workgraph_reference', workspace::text);
      return null;
    end $body$`.execute(db);
  // Row triggers do not see a truncate: nothing of before is a base for what comes after it.
  await sql`
    create function reference_truncated() returns trigger language plpgsql as $body$
    begin
      delete from reference_change;
      update workspace_version set ref = ref + 1, tag = (random() * 9e15)::bigint, auth = auth + 1;
      return null;
    end $body$`.execute(db);

  for (const [table, group] of Object.entries(kept)) {
    const name = sql.table(table);
    const trigger = (when: string) => sql.ref(`${table}_${when}`);
    // Deferred: counted at commit, so that two writers never wait for each other in two orders.
    await sql`
      create constraint trigger ${trigger('inserted_or_deleted')} after insert or delete on ${name}
        deferrable initially deferred for each row execute function reference_changed(${sql.lit(group)})`.execute(
      db,
    );
    await sql`
      create constraint trigger ${trigger('updated')} after update on ${name}
        deferrable initially deferred for each row when (old.* is distinct from new.*)
        execute function reference_changed(${sql.lit(group)})`.execute(db);
    await sql`
      create trigger ${trigger('truncated')} after truncate on ${name}
        for each statement execute function reference_truncated()`.execute(db);
  }
  await sql`
    create constraint trigger member_authority after update on member
      deferrable initially deferred for each row
      when (row (old.role, old.status, old.principal_kind, old.display_name, old.user_account_id)
        is distinct from row (new.role, new.status, new.principal_kind, new.display_name, new.user_account_id))
      execute function authority_changed()`.execute(db);
  await sql`
    create constraint trigger access_token_authority after update on access_token
      deferrable initially deferred for each row
      when (row (old.scopes, old.expires_utc, old.revoked_utc, old.user_account_id, old.token_hash)
        is distinct from row (new.scopes, new.expires_utc, new.revoked_utc, new.user_account_id, new.token_hash))
      execute function authority_changed()`.execute(db);
  for (const table of ['member', 'access_token']) {
    await sql`
      create constraint trigger ${sql.ref(`${table}_authority_removed`)} after delete on ${sql.table(table)}
        deferrable initially deferred for each row execute function authority_changed()`.execute(db);
  }
  await sql`
    create trigger access_token_truncated after truncate on access_token
      for each statement execute function reference_truncated()`.execute(db);
}
