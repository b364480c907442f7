import type { Database } from '../db/engine/engine.ts';
import { always } from '../db/query/predicate.ts';
import { selectChangePage } from '../db/reads/change-pages.ts';
import type { TenantDb } from '../db/tables/tenant-tables.ts';
import type { Snapshot } from '../reference/snapshot.ts';
import { type LogPages, scannedChanges, sharedChanges, type SharedPage } from '../resolvers/changes.ts';
import type { CachedReference } from '../resolvers/context.ts';
import { issuesInMemory } from '../resolvers/issues/issues-in-memory.ts';
import type { Arrivals } from './change-watch.ts';
import { Cohorts } from './cohorts.ts';

/** What the first stream of a workspace reads with for all. */
export interface Reading {
  readonly db: TenantDb;
  readonly connect: Database['connect'];
  readonly reference: CachedReference | undefined;
}

/** Does work that many streams wait for, with limits of its own. */
type Apart = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** The end of each log, read once for all streams of a workspace, whatever they want of it. */
export class SharedLog {
  readonly #reads = new Cohorts<SharedPage>();
  readonly #apart: Apart;

  constructor(apart: Apart) {
    this.#apart = apart;
  }

  /** The pages of the log as a stream of the workspace reads them after its last arrival. `reading` is called for a read. */
  pages(workspaceId: string, reading: () => Reading, { arrival, position }: Arrivals): LogPages {
    return {
      after: (place) => {
        const isNear = position > 0 && position - place.position <= sharedChanges;
        if (!isNear) return undefined;
        const key = `${workspaceId} ${place.position} ${place.tag} ${arrival}`;
        return this.#reads.read(key, async () => {
          const { db, connect, reference } = reading();
          const page = await this.#apart(() =>
            selectChangePage(db, {
              after: place.position,
              where: always,
              limit: sharedChanges + 1,
              scan: scannedChanges,
            }),
          );
          const issueIds = [...new Set(page.rows.flatMap(({ issueId }) => issueId ?? []))];
          let issues: Promise<Snapshot> | undefined;
          return {
            ...page,
            issues: () =>
              (issues ??= this.#apart(() => issuesInMemory({ connect, reference }, workspaceId, issueIds))),
          };
        });
      },
    };
  }
}
