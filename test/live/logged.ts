import { expect } from '@jest/globals';
import type { Database } from '../../src/db/engine/engine.ts';
import { sql } from 'kysely';
import { Sequencer } from '../../src/live/sequencer.ts';
import { events, isEventType } from '../../src/model/events.ts';

/** A change in the log, with or without a position. */
export interface LoggedChange {
  workspaceId: string;
  changeId: string;
  sortOrder: number;
  eventType: string;
  actorUserAccountId: string | null;
  issueId: string | null;
  teamId: string | null;
  subjectId: string;
  fields: string[];
  previous: Record<string, unknown> | null;
  origin: number;
  requestId: string | null;
  occurredUtc: Date;
}

/** The ids of the issue and the team that a change of this type has, besides its subject. */
export function parentIdsOf(eventType: string, teamId: string | undefined) {
  if (!isEventType(eventType)) throw new Error(`${eventType} is no event.`);
  const parentIds = {
    issue: { issueId: expect.any(String), teamId },
    team: { issueId: null, teamId },
    workspace: { issueId: null },
  };
  return parentIds[events[eventType].belongsTo];
}

/** All logged changes. Those without a position come last. */
export async function loggedChanges(database: Database, workspaceId: string): Promise<LoggedChange[]> {
  const columns = sql`sort_order, event_type, actor_user_account_id, issue_id, team_id, subject_id, fields, previous,
    origin, request_id, occurred_utc`;
  const { rows } = await sql<LoggedChange>`
    select * from (
      select 1 as part, position, workspace_id, id as change_id, ${columns} from change
      union all select 2, id, workspace_id, change_id, ${columns} from change_inbox
    ) logged where workspace_id = ${workspaceId} order by part, position`.execute(database.unscoped);
  return rows;
}

/** The changes that the work logs. */
export async function changesOf(
  database: Database,
  workspaceId: string,
  work: () => Promise<unknown>,
): Promise<LoggedChange[]> {
  const before = new Set((await loggedChanges(database, workspaceId)).map(({ changeId }) => changeId));
  await work();
  return (await loggedChanges(database, workspaceId)).filter(({ changeId }) => !before.has(changeId));
}

/** Gives waiting changes their positions, in addition to the server's own sequencer. */
export async function numberAllChanges(database: Database): Promise<void> {
  for (;;) {
    const sequencer = new Sequencer({ database, onNumbered: () => undefined, logger: console });
    await sequencer.close();
    const { rows } = await sql`select 1 from change_inbox limit 1`.execute(database.unscoped);
    if (rows.length === 0) return;
  }
}
