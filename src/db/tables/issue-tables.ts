import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { GeneratedTimestamp, Timestamp, FollowUpActions } from '../../model/column-types.ts';

// The tables of issues and all that hangs on one, as the migrations made them.

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
  closedUtc: Timestamp | null;
  deletedUtc: Timestamp | null;
  revision: Generated<number>;
  /** The labels that `issueLabel` joins it to, by their ids: triggers write it. Null where it has not been written yet. */
  labelIds: ColumnType<string[] | null, string[] | undefined, never>;
  /** Those whom `issueAssignee` joins it to, in their order: as `labelIds`. */
  assigneeUserAccountIds: ColumnType<string[] | null, string[] | undefined, never>;
}

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
