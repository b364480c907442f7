import { type Kysely, sql } from 'kysely';

/**
 * Repairs agent threads with impossible turn numbers: a message could name any turn, and after 2147483647 a thread
 * took no more messages. Every turn has a message, so a current turn above the number of messages was made up. The
 * turns of these threads are renumbered from 1 in their order and without gaps; turn 0 stays.
 *
 * Reads each thread once and writes only the rows that it repairs.
 */
export async function up(db: Kysely<unknown>): Promise<string | undefined> {
  const { rows } = await sql<{ threads: number }>`
    with broken as materialized (
      select workspace_id, id, last_completed_turn_number from agent_thread
      where current_turn_number > message_count
      for update
    ), turns as (
      select workspace_id, thread_id, turn_number,
        row_number() over (partition by workspace_id, thread_id order by turn_number)::int as place
      from (
        select distinct m.workspace_id, m.thread_id, m.turn_number from agent_thread_message m
          join broken b on b.workspace_id = m.workspace_id and b.id = m.thread_id
        where m.turn_number > 0
      ) named
    ), renumbered as (
      update agent_thread_message m set turn_number = t.place from turns t
      where m.workspace_id = t.workspace_id and m.thread_id = t.thread_id and m.turn_number = t.turn_number
        and t.turn_number <> t.place
    ), repaired as (
      update agent_thread a set
        current_turn_number = (select coalesce(max(t.place), 0) from turns t
          where t.workspace_id = b.workspace_id and t.thread_id = b.id),
        last_completed_turn_number = (select coalesce(max(t.place), 0) from turns t
          where t.workspace_id = b.workspace_id and t.thread_id = b.id
            and t.turn_number <= b.last_completed_turn_number),
        revision = a.revision + 1
      from broken b where a.workspace_id = b.workspace_id and a.id = b.id
      returning a.id
    )
    select count(*)::int as threads from repaired`.execute(db);
  const threads = rows[0]?.threads ?? 0;
  return threads > 0 ? `repaired the turn numbers of ${threads} agent threads` : undefined;
}
