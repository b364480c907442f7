import { always } from '../db/query/predicate.ts';
import { type ChangePageRead, selectChangePage } from '../db/reads/change-pages.ts';
import type { TenantDb } from '../db/tables/tenant-tables.ts';
import { type LogPages, scannedChanges, sharedChanges } from '../resolvers/changes.ts';
import type { Arrivals } from './change-watch.ts';
import { Cohorts } from './cohorts.ts';

/** The end of each log, read once for all streams of a workspace, whatever they want of it. */
export class SharedLog {
  readonly #reads = new Cohorts<ChangePageRead>();

  /** The pages of the log as a stream of the workspace reads them after its last arrival. */
  pages(db: TenantDb, workspaceId: string, { arrival, position }: Arrivals): LogPages {
    return {
      after: (place) => {
        const isNear = position > 0 && position - place.position <= sharedChanges;
        if (!isNear) return undefined;
        const key = JSON.stringify([workspaceId, place.position, place.tag, arrival]);
        return this.#reads.read(key, () =>
          selectChangePage(db, {
            after: place.position,
            where: always,
            limit: sharedChanges + 1,
            scan: scannedChanges,
          }),
        );
      },
    };
  }
}
