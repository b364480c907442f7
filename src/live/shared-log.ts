import type { Database } from '../db/engine/engine.ts';
import { always } from '../db/query/conditions/predicate.ts';
import { selectChangePage } from '../db/reads/change-pages.ts';
import type { TenantDb } from '../db/tables/tenant-tables.ts';
import type { Snapshot } from '../reference/snapshot.ts';
import {
  type LogPages,
  maxScannedChanges,
  maxSharedChanges,
  type SharedPage,
} from '../resolvers/changes/changes.ts';
import type { CachedReference } from '../resolvers/context.ts';
import { issuesInMemory } from '../resolvers/issues/issues-in-memory.ts';
import type { Arrivals } from './change-watch.ts';
import { Cohorts } from './cohorts.ts';

/** The handle and the connections with which the log is read once for all streams of a workspace. */
export interface LogAccess {
  readonly db: TenantDb;
  readonly connect: Database['connect'];
  readonly reference: CachedReference | undefined;
}

/** Does work that many streams wait for, within the limits of a request of its own. */
type WithRequestLimits = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Reads the end of each log once for all streams of a workspace, whatever their filters are. */
export class SharedLog {
  readonly #reads = new Cohorts<SharedPage>();
  readonly #withRequestLimits: WithRequestLimits;

  constructor(withRequestLimits: WithRequestLimits) {
    this.#withRequestLimits = withRequestLimits;
  }

  /** The pages of the log as a stream of the workspace reads them after its last arrival. `access` is called for a read. */
  pages(workspaceId: string, access: () => LogAccess, { arrival, position }: Arrivals): LogPages {
    return {
      after: (from) => {
        const isNear = position > 0 && position - from.position <= maxSharedChanges;
        if (!isNear) return undefined;
        const key = `${workspaceId} ${from.position} ${from.tag} ${arrival}`;
        return this.#reads.read(key, () => this.#read(workspaceId, from.position, access));
      },
    };
  }

  /** Reads the page of the log after a position. The issues in it are read when a stream first asks for them. */
  async #read(workspaceId: string, after: number, access: () => LogAccess): Promise<SharedPage> {
    const { db, connect, reference } = access();
    const limits = { limit: maxSharedChanges + 1, scan: maxScannedChanges };
    const page = await this.#withRequestLimits(() =>
      selectChangePage(db, { after, where: always, ...limits }),
    );
    const issueIds = [...new Set(page.rows.flatMap(({ issueId }) => issueId ?? []))];
    let issues: Promise<Snapshot> | undefined;
    const readIssues = () =>
      this.#withRequestLimits(() => issuesInMemory({ connect, reference }, workspaceId, issueIds));
    return { ...page, issues: () => (issues ??= readIssues()) };
  }
}
