import { selectAncestry } from '../../db/imports.ts';
import type { Trx } from '../../db/engine/transaction.ts';

/** The parents that a batch sets, by the ids of their children. */
export interface PlacedParents {
  readonly living: ReadonlyMap<string, string>;
  /** Parents that are deleted: remembered apart, so that a restoration brings their children back. */
  readonly deleted: ReadonlyMap<string, string>;
  /** Children that are deleted themselves, which no parent counts. */
  readonly deletedChildren: ReadonlySet<string>;
}

/** An issue that is to be put below another. */
export interface WantedParent {
  childId: string;
  parentId: string;
}

/**
 * Where issues stand in the tree of the workspace, with the moves of one batch on top. Nobody else may change
 * parents while it is used (`lockParents`).
 */
export class IssueForest {
  readonly #parents: Map<string, string | null>;

  private constructor(parents: Map<string, string | null>) {
    this.#parents = parents;
  }

  /** Reads the issues and all that is above them. */
  static async above(trx: Trx, ids: readonly string[]): Promise<IssueForest> {
    return new IssueForest(await selectAncestry(trx, ids));
  }

  parentOf(id: string): string | null {
    return this.#parents.get(id) ?? null;
  }

  /** Makes the issue one without a parent. */
  detach(id: string): void {
    this.#parents.set(id, null);
  }

  /** Puts the issue below the other, unless that closed a circle. */
  attach({ childId, parentId }: WantedParent): boolean {
    for (let above: string | null = parentId; above !== null; above = this.parentOf(above)) {
      if (above === childId) return false;
    }
    this.#parents.set(childId, parentId);
    return true;
  }
}
