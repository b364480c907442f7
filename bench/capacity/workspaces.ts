import { sql } from 'kysely';
import { newTag, numberChanges, selectUnnumbered } from '../../src/db/changes.ts';
import { type Database, openDatabase } from '../../src/db/engine/engine.ts';
import { ReferenceReads } from '../../src/db/reads/reference-reads.ts';
import { migrate } from '../dataset/fill.ts';
import { repository } from '../repository.ts';
import { spread } from '../report/numbers.ts';

/** What grows with the number of workspaces in use, in ms. */
export interface WorkspaceTimes {
  /** Numbering the changes of one workspace, one after the other, as a sequencer does. */
  readonly numberingMs: number;
  /** The statement that looks for changes of dead processes, with a change in each of the workspaces. */
  readonly searchMs: number;
  /** The statement by which a process checks the reference data of all workspaces that it uses. */
  readonly versionsMs: number;
}

export const workspaces = 1_000;
const rounds = 5;

/** Measures with the statements of the product on a database of its own with a thousand workspaces. */
export async function measureWorkspaces(url: string, say: (line: string) => void): Promise<WorkspaceTimes> {
  migrate(url, repository);
  const database = await openDatabase({ url });
  try {
    const ids = await createWorkspaces(database);
    const measuredMs = { numbering: [] as number[], search: [] as number[], versions: [] as number[] };
    const reads = new ReferenceReads(database);
    for (let round = 0; round < rounds; round += 1) {
      await writeInEach(database);
      measuredMs.search.push(await timed(() => selectUnnumbered(database.unscoped)));
      const all = await timed(async () => {
        for (const id of ids)
          await numberChanges({ db: database.of(id), connect: () => database.connect() }, newTag());
      });
      measuredMs.numbering.push(all / ids.length);
      measuredMs.versions.push(await timed(() => reads.versions(ids)));
    }
    const { numbering, search, versions } = measuredMs;
    const result = {
      numberingMs: spread(numbering).median,
      searchMs: spread(search).median,
      versionsMs: spread(versions).median,
    };
    say(`${workspaces} workspaces with a change in each, medians of ${rounds} rounds:`);
    say(`  numbering the changes of one workspace   ${result.numberingMs.toFixed(2)} ms`);
    say(`  looking for workspaces with changes      ${result.searchMs.toFixed(1)} ms`);
    say(`  checking the reference data of all       ${result.versionsMs.toFixed(1)} ms`);
    return result;
  } finally {
    await database.close();
  }
}

async function createWorkspaces({ unscoped }: Database): Promise<string[]> {
  await sql`
    insert into workspace (workspace_id, name)
    select gen_random_uuid(), 'Workspace ' || n from generate_series(1, ${workspaces}) n
    where not exists (select from workspace)`.execute(unscoped);
  const { rows } = await sql<{ id: string }>`select workspace_id as id from workspace`.execute(unscoped);
  return rows.map(({ id }) => id);
}

/** Adds a change to the inbox of each workspace, such as the deletion of an issue leaves there. */
async function writeInEach({ unscoped }: Database): Promise<void> {
  await sql`
    insert into change_inbox (workspace_id, change_id, event_type, occurred_utc, subject_id, origin)
    select workspace_id, gen_random_uuid(), 'issue.deleted', now(), gen_random_uuid(), 1
    from workspace`.execute(unscoped);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
