import { type Kysely, sql } from 'kysely';

/**
 * The labels of an issue beside their join, in the row itself, as most lists of issues show them: looking into the join
 * for each row was a third of what a page of issues cost. Triggers write the column, whoever writes the join, so servers
 * of the version before may go on; who writes the join has locked the issue. Of older issues it is null, which says
 * nothing, until the janitor has written it: all at once would hold up who writes them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`set local lock_timeout = '10s'`.execute(db);
  await sql`alter table issue add column label_ids uuid[]`.execute(db);
  await sql`alter table issue alter column label_ids set default '{}'`.execute(db);
  await sql`
    create function issue_labels_changed() returns trigger language plpgsql as $body$
    begin
      update issue i set label_ids = found.ids
        from (
          select c.workspace_id, c.issue_id, array(
            select l.label_id from issue_label l
            where l.workspace_id = c.workspace_id and l.issue_id = c.issue_id order by l.label_id
          ) as ids
          from (select distinct workspace_id, issue_id from changed) c
        ) found
        where i.workspace_id = found.workspace_id and i.id = found.issue_id and i.label_ids is distinct from found.ids;
      return null;
    end
    $body$`.execute(db);
  for (const [name, event, table] of [
    ['issue_labels_added', 'insert', 'new table'],
    ['issue_labels_taken', 'delete', 'old table'],
  ] as const) {
    await sql`
      create trigger ${sql.raw(name)} after ${sql.raw(event)} on issue_label referencing ${sql.raw(table)} as changed
        for each statement execute function issue_labels_changed()`.execute(db);
  }
}
