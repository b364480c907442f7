import { type Kysely, sql } from 'kysely';

const copies = [
  {
    source: 'status',
    target: 'issue',
    columns: { rank: 'status_rank' },
    key: { team_id: 'team_id', id: 'status_id' },
    replaced: 'issue_workspace_id_team_id_status_id_status_rank_fkey',
  },
  {
    source: 'project_status',
    target: 'project',
    columns: { state: 'state', position: 'status_position' },
    key: { id: 'status_id' },
    replaced: 'project_workspace_id_status_id_state_status_position_fkey',
  },
  {
    source: 'member',
    target: 'project',
    columns: { display_name_fold: 'lead_display_name_fold' },
    key: { user_account_id: 'lead_user_account_id' },
    replaced: 'project_workspace_id_lead_user_account_id_lead_display_nam_fkey',
  },
];

/**
 * What issues and projects are ordered by is copied by triggers, and no longer by foreign keys that cascade, which Citus does not
 * have. The keys still refuse a copy that differs. PostgreSQL calls the triggers of a row in the order of their names, and those
 * of foreign keys begin with RI, so the names here begin with Copy: the copies are changed before the keys are checked.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`set local lock_timeout = '10s'`.execute(db);
  for (const { source, target, columns, key, replaced } of copies) {
    const pairs = Object.entries(columns);
    const keys = Object.entries(key);
    const all = [...keys, ...pairs];
    const list = (parts: string[], between = ', ') => sql.raw(parts.join(between));
    const name = sql.raw(`copy_${source}_to_${target}`);
    await sql`
      create function ${name}() returns trigger language plpgsql as $body$
      begin
        update ${sql.table(target)} set ${list(pairs.map(([from, to]) => `${to} = new.${from}`))}
          where workspace_id = new.workspace_id and ${list(
            keys.map(([from, to]) => `${to} = new.${from}`),
            ' and ',
          )};
        return null;
      end
      $body$`.execute(db);
    await sql`
      create trigger ${sql.id(`Copy_${source}_to_${target}`)} after update on ${sql.table(source)} for each row
        when (row (${list(pairs.map(([from]) => `old.${from}`))})
          is distinct from row (${list(pairs.map(([from]) => `new.${from}`))}))
        execute function ${name}()`.execute(db);
    await sql`alter table ${sql.table(target)} drop constraint ${sql.id(replaced)}`.execute(db);
    await sql`
      alter table ${sql.table(target)} add constraint ${sql.id(`${target}_has_copy_of_${source}`)}
        foreign key (workspace_id, ${list(all.map(([, to]) => to))})
        references ${sql.table(source)} (workspace_id, ${list(all.map(([from]) => from))}) not valid`.execute(
      db,
    );
  }
}
