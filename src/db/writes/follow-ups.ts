import type { SettableColumn } from '../../model/issue-columns.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';
import { countParts } from './issue-counts.ts';
import type { ChangeKind } from './issue-parts.ts';
import { stageParts } from './issue-stages.ts';
import { tallyParts } from './issue-tallies.ts';
import { textParts } from './issue-texts.ts';
import type { Part } from './write-parts.ts';

/** The kind of write that a statement performs on issues. */
export type IssueWrite =
  | {
      kind: 'insert';
      /** Whether any of them is in a delivery or a project. */
      inDeliveryOrProject: boolean;
      /** Whether they are imported with their history, including their stages. */
      history: boolean;
    }
  | {
      kind: ChangeKind;
      /** The columns that it sets, except those that follow from its kind. */
      columns: readonly SettableColumn[];
    };

/**
 * Parts that follow from any write of issues. They read `changed`, the issues after the write, and, unless it is an
 * insert, `locked`, the same issues before the write, joined by `ordinal`.
 */
export type FollowUp = (db: TenantDb, write: IssueWrite) => readonly Part[];

/**
 * All follow-ups. Each applies to every issue that is created, changed, commented on, deleted, restored or imported,
 * alone, in a batch or in a transaction.
 */
export const followUps: FollowUp[] = [countParts, tallyParts, stageParts, textParts];
