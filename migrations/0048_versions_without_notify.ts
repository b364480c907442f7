import { type Kysely, sql } from 'kysely';

/**
 * The triggers of 0018 count versions, and the process that has written notifies the others after the commit. A transaction over
 * several nodes cannot notify, and the notification of a node is heard only there. The name of a distributed table ends with a
 * number on its node, such as team_102034.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function reference_changed() returns trigger language plpgsql as $body$
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
          values (workspace, counted.ref, counted.tag, regexp_replace(tg_table_name, '_\\d+$', ''), (each_row ->> tg_argv[0])::uuid)
          on conflict do nothing;
      end loop;
      return null;
    end $body$`.execute(db);
  await sql`
    create or replace function authority_changed() returns trigger language plpgsql as $body$
    declare
      workspace uuid;
    begin
      if tg_op = 'DELETE' then workspace := old.workspace_id; else workspace := new.workspace_id; end if;
      insert into workspace_version as v (workspace_id, auth, auth_xact)
        values (workspace, 1, pg_current_xact_id())
        on conflict (workspace_id) do update set auth = v.auth + 1, auth_xact = excluded.auth_xact
          where v.auth_xact is distinct from excluded.auth_xact;
      return null;
    end $body$`.execute(db);
}
