import type { SettableColumn } from '../../model/issue-columns.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';
import { movedCounts } from './issue-counts.ts';
import type { ChangeKind } from './issue-parts.ts';
import { writtenStages } from './issue-stages.ts';
import { movedTallies } from './issue-tallies.ts';
import { copiedTexts } from './issue-texts.ts';
import type { Part } from './write-parts.ts';

/** What a statement does to issues. */
export type IssueWrite =
  | {
      /** It inserts them. */
      kind: 'insert';
      /** Is any of them in a delivery or a project. */
      counted: boolean;
      /** Do they come with their history, stages included. */
      history: boolean;
    }
  | {
      kind: ChangeKind;
      /** The columns that it sets, beside those that follow from its kind. */
      columns: readonly SettableColumn[];
    };

/**
 * Parts that follow from a write of issues, whichever it is. They read `changed`, the issues as the write left them,
 * and, unless it inserts them, `locked`, the same issues as they were before (by `place`).
 */
export type FollowUp = (db: TenantDb, write: IssueWrite) => readonly Part[];

/**
 * Everything that follows from a write of issues. One more entry here applies to each issue that is created, changed,
 * commented on, deleted, restored or imported, alone, in a batch or in a transaction.
 */
export const followUps: FollowUp[] = [movedCounts, movedTallies, writtenStages, copiedTexts];
