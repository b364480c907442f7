import { selectAncestry } from '../../db/imports.ts';
import type { Trx } from '../../db/engine/transaction.ts';

/** The parents that a batch sets, by the ids of the children. */
export interface BatchParents {
  readonly notDeleted: ReadonlyMap<string, string>;
  /** Deleted parents. They are stored in another column, from which restoring the parent restores its children. */
  readonly deleted: ReadonlyMap<string, string>;
  /** Deleted children, which are not included in the counts of their parents. */
  readonly deletedChildren: ReadonlySet<string>;
}

/** A child and the parent that it should get. */
export interface WantedParent {
  childId: string;
  parentId: string;
}

/**
 * The parents of issues, including the changes of one batch. The lock of `lockParents` must be held while it is used,
 * so that no other transaction changes parents.
 */
export class IssueForest {
  readonly #parents: Map<string, string | null>;

  private constructor(parents: Map<string, string | null>) {
    this.#parents = parents;
  }

  /** Reads the ancestors of the issues. */
  static async above(trx: Trx, ids: readonly string[]): Promise<IssueForest> {
    return new IssueForest(await selectAncestry(trx, ids));
  }

  parentOf(id: string): string | null {
    return this.#parents.get(id) ?? null;
  }

  /** Removes the parent of an issue. */
  detach(id: string): void {
    this.#parents.set(id, null);
  }

  /** Sets the parent of an issue and returns true; returns false if that would make a cycle. */
  attach({ childId, parentId }: WantedParent): boolean {
    for (let above: string | null = parentId; above !== null; above = this.parentOf(above)) {
      if (above === childId) return false;
    }
    this.#parents.set(childId, parentId);
    return true;
  }
}
