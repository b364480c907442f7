import { AppError } from '../../resolvers/errors.ts';
import { Admission, type AdmissionLimits, type AdmissionTicket, busy } from './admission.ts';

/** More admissions than this are kept only while they are in use. */
const maxIdle = 100;
/** Workspaces count as competing until this long after requests of two of them last followed each other. */
const competingMs = 1_000;

/**
 * Gives each workspace an admission of its own: its share, whose tickets are called places. While requests of several workspaces arrive, one workspace has at most half of the
 * places, so that its slow requests, such as writes that wait for each other's locks, do not take the places of all others. A
 * workspace that is alone has all of them.
 */
export class WorkspaceShares {
  readonly #limits: AdmissionLimits;
  readonly #shares = new Map<string, Admission>();
  #latest: string | undefined;
  #competedMs = Number.NEGATIVE_INFINITY;
  /** The number of requests refused by admissions that have been dropped since. */
  #refused = 0;

  constructor({ maxConcurrency, ...limits }: AdmissionLimits) {
    const placesOfEach = () =>
      performance.now() - this.#competedMs < competingMs ? Math.ceil(maxConcurrency / 2) : maxConcurrency;
    this.#limits = {
      ...limits,
      get maxConcurrency() {
        return placesOfEach();
      },
    };
  }

  /** The requests that wait for a place of their workspace, and those that were refused because none became free in time. */
  get load(): { waiting: number; refused: number } {
    const sum = { waiting: 0, refused: this.#refused };
    for (const { load } of this.#shares.values()) {
      sum.waiting += load.waiting;
      sum.refused += load.refused;
    }
    return sum;
  }

  /** The admission of a workspace from which a request arrives. */
  of(workspaceId: string): Admission {
    if (this.#latest !== workspaceId) {
      if (this.#latest !== undefined) this.#competedMs = performance.now();
      this.#latest = workspaceId;
      if (this.#shares.size > maxIdle) this.#dropIdle();
    }
    let share = this.#shares.get(workspaceId);
    if (!share) this.#shares.set(workspaceId, (share = new Admission(this.#limits)));
    return share;
  }

  #dropIdle(): void {
    for (const [workspaceId, { load }] of this.#shares) {
      if (load.inProgress > 0 || load.waiting > 0) continue;
      this.#refused += load.refused;
      this.#shares.delete(workspaceId);
    }
  }
}

/** The admission of the process, and those of the workspaces. */
export interface Admissions {
  readonly admission: Admission;
  readonly shares: WorkspaceShares;
}

/**
 * Does work with a ticket and a place of the workspace, for requests that do not hold them as a whole. Throws `unavailable` if none
 * becomes free in time.
 */
export async function inPlaceOf<Result>(
  { admission, shares }: Admissions,
  workspaceId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const ticket = await new Promise<AdmissionTicket>((resolve, reject) => {
    admission.enter(resolve, () => reject(new AppError('unavailable', busy)));
  });
  try {
    await ticket.join(() => shares.of(workspaceId));
    return await work();
  } finally {
    ticket.leave();
  }
}
