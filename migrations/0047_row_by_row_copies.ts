import { type Kysely, sql } from 'kysely';

const copies = [
  {
    name: 'issue_labels_changed',
    column: 'label_ids',
    ids: `select l.label_id from issue_label l
      where l.workspace_id = one.workspace_id and l.issue_id = one.issue_id order by l.label_id`,
  },
  {
    name: 'issue_assignees_changed',
    column: 'assignee_user_account_ids',
    ids: `select a.user_account_id from issue_assignee a
      where a.workspace_id = one.workspace_id and a.issue_id = one.issue_id order by a.position, a.user_account_id`,
  },
];

/**
 * The triggers of 0021 and 0022 write the arrays of one issue after the other: Citus plans no update that is correlated with the
 * rows of a transition table.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const { name, column, ids } of copies) {
    await sql
      .raw(`
      create or replace function ${name}() returns trigger language plpgsql as $body$
      declare
        one record;
        found uuid[];
      begin
        for one in select distinct workspace_id, issue_id from changed loop
          found := array(${ids});
          update issue i set ${column} = found
            where i.workspace_id = one.workspace_id and i.id = one.issue_id and i.${column} is distinct from found;
        end loop;
        return null;
      end
      $body$`)
      .execute(db);
  }
}
