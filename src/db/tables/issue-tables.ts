import type { Generated } from 'kysely';
import type { GeneratedTimestamp, Timestamp, FollowUpActions } from '../../model/column-types.ts';

// The tables of issues and of what belongs to issues, as the migrations define them.

export interface IssueAssigneeTable {
  workspaceId: string;
  issueId: string;
  userAccountId: string;
  position: Generated<number>;
}

export interface IssueLabelTable {
  workspaceId: string;
  issueId: string;
  labelId: string;
}

export interface IssueSubscriptionTable {
  workspaceId: string;
  issueId: string;
  userAccountId: string;
}

export interface IssueRoleAssignmentTable {
  workspaceId: string;
  issueId: string;
  role: string;
  userAccountId: string;
}

export interface CommentTable {
  workspaceId: string;
  id: string;
  issueId: string;
  parentCommentId: string | null;
  parentAuthorUserAccountId: string | null;
  authorUserAccountId: string;
  body: string;
  isEdited: Generated<boolean>;
  createdUtc: Timestamp;
  updatedUtc: Timestamp;
  deletedUtc: Timestamp | null;
  revision: Generated<number>;
}

export interface IssueLinkTable {
  workspaceId: string;
  id: string;
  issueId: string;
  url: string;
  urlHash: Buffer;
  title: string;
  createdUtc: Timestamp;
  createdByUserAccountId: string;
  deletedUtc: Timestamp | null;
  revision: Generated<number>;
}

export interface AttachmentTable {
  workspaceId: string;
  id: string;
  issueId: string;
  fileName: string;
  contentType: string;
  sizeBytes: number;
  uploadedByUserAccountId: string;
  createdUtc: Timestamp;
  uploadedUtc: Timestamp | null;
  previewKind: Generated<number>;
  codeLanguage: string | null;
  deletedUtc: Timestamp | null;
  revision: Generated<number>;
}

export interface ActivityTable {
  workspaceId: string;
  issueId: string;
  sortOrder: number;
  id: string;
  eventType: string;
  actorUserAccountId: string;
  occurredUtc: Timestamp;
  iconCss: Generated<string>;
  text: string;
}

/**
 * The state of an issue during a period. The stages of one issue follow each other without gaps; see migration 0025.
 */
export interface IssueStageTable {
  workspaceId: string;
  issueId: string;
  /** The present stage has the number in `issue.stageCount`. */
  sortOrder: number;
  sinceUtc: Timestamp;
  /** Null for the present stage. */
  untilUtc: Timestamp | null;
  teamId: string;
  /** Null if the status is unknown; then the issue is known not to have been closed. */
  statusId: string | null;
  deliveryId: string | null;
  projectId: string | null;
  estimateValue: number | null;
  deleted: Generated<boolean>;
  /** The status in the stage before. */
  previousStatusId: string | null;
  /** Also true in the first stage, before which there was no issue; null in rows that have not been filled yet. */
  previousDeleted: boolean | null;
}

/** The copy of an issue's title in which texts are searched; see migration 0027. */
export interface IssueTextTable {
  workspaceId: string;
  issueId: string;
  titleFold: string;
}

/**
 * One slot of a tally: the sum over its slots is the number of issues of a group in a status that are not deleted
 * (`tallies.ts`).
 */
export interface IssueTallyTable {
  workspaceId: string;
  /** A code of `tallyKinds`. */
  kind: number;
  groupId: string;
  /** The team of the status. */
  teamId: string;
  statusId: string;
  /** The priority of the issues if the kind is `team`, otherwise 0. */
  priority: number;
  slot: number;
  issueCount: Generated<number>;
  estimateSum: Generated<number>;
}

export interface AgentInstallationTable {
  workspaceId: string;
  id: string;
  applicationId: string;
  agentUserAccountId: string;
  isDefault: Generated<boolean>;
  createdUtc: GeneratedTimestamp;
}

export interface AgentThreadTable {
  workspaceId: string;
  id: string;
  issueId: string;
  applicationId: string | null;
  applicationInstallationId: string | null;
  agentUserAccountId: string;
  status: number;
  lastMessageAuthorType: number;
  lastMessageType: number;
  currentTurnNumber: number;
  lastCompletedTurnNumber: Generated<number>;
  messageCount: Generated<number>;
  lastMessagePreview: Generated<string>;
  lastMessageUtc: Timestamp;
  startedUtc: Timestamp;
  revision: Generated<number>;
}

export interface AgentThreadMessageTable {
  workspaceId: string;
  id: string;
  threadId: string;
  issueId: string;
  sortOrder: number;
  applicationId: string | null;
  applicationInstallationId: string | null;
  agentUserAccountId: string;
  authorUserAccountId: string;
  authorType: number;
  messageType: number;
  turnNumber: number;
  body: string;
  replyToMessageId: string | null;
  followUpActions: FollowUpActions;
  createdUtc: Timestamp;
}
