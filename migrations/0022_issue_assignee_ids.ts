import { type Kysely, sql } from 'kysely';

/**
 * The assignees of an issue in their order, in the row itself, as 0021 has it of its labels: looking into the join for
 * each row was half of what a page of whole issues cost. Triggers write the column, whoever writes the join, who has
 * locked the issue. Of older issues it is null, which says nothing, until the janitor has written it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`set local lock_timeout = '10s'`.execute(db);
  await sql`alter table issue add column assignee_user_account_ids uuid[]`.execute(db);
  await sql`alter table issue alter column assignee_user_account_ids set default '{}'`.execute(db);
  await sql`
    create function issue_assignees_changed() returns trigger language plpgsql as $body$
    begin
      update issue i set assignee_user_account_ids = found.ids
        from (
          select c.workspace_id, c.issue_id, array(
            select a.user_account_id from issue_assignee a
            where a.workspace_id = c.workspace_id and a.issue_id = c.issue_id order by a.position, a.user_account_id
          ) as ids
          from (select distinct workspace_id, issue_id from changed) c
        ) found
        where i.workspace_id = found.workspace_id and i.id = found.issue_id
          and i.assignee_user_account_ids is distinct from found.ids;
      return null;
    end
    $body$`.execute(db);
  for (const [name, event, table] of [
    ['issue_assignees_added', 'insert', 'new table'],
    ['issue_assignees_moved', 'update', 'new table'],
    ['issue_assignees_taken', 'delete', 'old table'],
  ] as const) {
    await sql`
      create trigger ${sql.raw(name)} after ${sql.raw(event)} on issue_assignee referencing ${sql.raw(table)} as changed
        for each statement execute function issue_assignees_changed()`.execute(db);
  }
}
