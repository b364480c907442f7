import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { Timestamp } from './column-types.ts';

export interface IssueTable {
  workspaceId: string;
  id: string;
  teamId: string;
  number: number;
  title: string;
  titleFold: string;
  description: Generated<string>;
  reporterUserAccountId: string;
  parentIssueId: string | null;
  deletedParentIssueId: string | null;
  statusId: string;
  statusRank: number;
  priority: number;
  priorityRank: GeneratedAlways<number>;
  primaryAssigneeUserAccountId: string | null;
  projectId: string | null;
  deliveryId: string | null;
  estimateValue: number | null;
  dueDate: string | null;
  commentCount: Generated<number>;
  subIssueCount: Generated<number>;
  linkCount: Generated<number>;
  activityCount: Generated<number>;
  createdUtc: Timestamp;
  updatedUtc: Timestamp;
  lastActivityUtc: Timestamp | null;
  lastCommentUtc: Timestamp | null;
  /** When it first was in an active status; null if it never was, or if that is not known. */
  startedUtc: Timestamp | null;
  closedUtc: Timestamp | null;
  deletedUtc: Timestamp | null;
  revision: Generated<number>;
  /** The number of its present stage (`issueStage.sortOrder`). */
  stageCount: Generated<number>;
  /** The ids of its labels, copied from `issueLabel` by triggers. Null in rows that have not been filled yet. */
  labelIds: ColumnType<string[] | null, string[] | undefined, never>;
  /** The accounts of its assignees in their order, copied from `issueAssignee` like `labelIds`. */
  assigneeUserAccountIds: ColumnType<string[] | null, string[] | undefined, never>;
}
