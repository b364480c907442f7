import type { Generated, GeneratedAlways } from 'kysely';
import type { AuditChanges, GeneratedTimestamp, ImportRecord, Timestamp } from '../../model/column-types.ts';

// The tables of directories, tokens and imports, as the migrations define them.

export interface WorkspaceTable {
  workspaceId: string;
  id: GeneratedAlways<string>;
  name: string;
  createdUtc: GeneratedTimestamp;
  updatedUtc: GeneratedTimestamp;
  /** The time since which the history of its issues is complete; null if it always was. */
  historySinceUtc: Timestamp | null;
}

export interface UserAccountTable {
  id: string;
  createdUtc: GeneratedTimestamp;
}

export interface MemberTable {
  workspaceId: string;
  id: string;
  userAccountId: string;
  displayName: string;
  displayNameFold: string;
  avatarUrl: string | null;
  emailAddress: string | null;
  emailAddressFold: string | null;
  principalKind: number;
  role: number;
  status: number;
  createdUtc: GeneratedTimestamp;
  updatedUtc: GeneratedTimestamp;
}

export interface TeamTable {
  workspaceId: string;
  id: string;
  name: string;
  nameFold: string;
  code: string;
  slug: string;
  description: Generated<string>;
  iconCss: Generated<string>;
  color: Generated<string>;
  state: number;
  leadUserAccountId: string | null;
  memberCount: Generated<number>;
  activeProjectCount: Generated<number>;
  deliveriesEnabled: Generated<boolean>;
  createdUtc: GeneratedTimestamp;
  updatedUtc: GeneratedTimestamp;
}

export interface TeamCounterTable {
  workspaceId: string;
  teamId: string;
  nextIssueNumber: Generated<number>;
  goneIssueCount: Generated<number>;
  issueCount: GeneratedAlways<number>;
}

export interface TeamMemberTable {
  workspaceId: string;
  teamId: string;
  userAccountId: string;
}

export interface StatusTable {
  workspaceId: string;
  id: string;
  teamId: string;
  name: string;
  nameFold: string;
  description: Generated<string>;
  color: Generated<string>;
  category: number;
  position: number;
  rank: GeneratedAlways<number>;
  isInitial: Generated<boolean>;
  isTerminal: Generated<boolean>;
  createdUtc: GeneratedTimestamp;
  updatedUtc: GeneratedTimestamp;
}

export interface LabelTable {
  workspaceId: string;
  id: string;
  teamId: string | null;
  groupId: string | null;
  isGroup: Generated<boolean>;
  name: string;
  nameFold: string;
  description: Generated<string>;
  color: Generated<string>;
  createdUtc: GeneratedTimestamp;
  updatedUtc: GeneratedTimestamp;
}

export interface DeliveryTable {
  workspaceId: string;
  id: string;
  teamId: string;
  number: number;
  name: string;
  nameFold: string;
  description: Generated<string>;
  startsOn: string;
  endsOn: string;
  state: number;
  createdUtc: GeneratedTimestamp;
  updatedUtc: GeneratedTimestamp;
}

export interface DeliveryCountTable {
  workspaceId: string;
  deliveryId: string;
  slot: number;
  issueCount: Generated<number>;
  closedIssueCount: Generated<number>;
  estimatedScope: Generated<number>;
  closedEstimate: Generated<number>;
}

export interface ProjectStatusTable {
  workspaceId: string;
  id: string;
  name: string;
  nameFold: string;
  description: Generated<string>;
  color: Generated<string>;
  state: number;
  position: number;
  createdUtc: GeneratedTimestamp;
  updatedUtc: GeneratedTimestamp;
}

export interface ProjectTable {
  workspaceId: string;
  id: string;
  teamId: string;
  key: string;
  name: string;
  nameFold: string;
  summary: Generated<string>;
  description: Generated<string>;
  slug: string;
  iconCss: Generated<string>;
  color: Generated<string>;
  statusId: string;
  state: number;
  statusPosition: number;
  priority: Generated<number>;
  priorityRank: GeneratedAlways<number>;
  leadUserAccountId: string | null;
  leadDisplayNameFold: string | null;
  startUtc: Timestamp | null;
  targetUtc: Timestamp | null;
  linkCount: Generated<number>;
  createdUtc: GeneratedTimestamp;
  updatedUtc: GeneratedTimestamp;
}

export interface ProjectCountTable {
  workspaceId: string;
  projectId: string;
  slot: number;
  issueCount: Generated<number>;
  completedIssueCount: Generated<number>;
}

export interface ProjectMemberTable {
  workspaceId: string;
  projectId: string;
  userAccountId: string;
}

export interface ProjectLabelTable {
  workspaceId: string;
  projectId: string;
  labelId: string;
}

export interface ProjectLinkTable {
  workspaceId: string;
  id: string;
  projectId: string;
  url: string;
  title: string;
  createdUtc: GeneratedTimestamp;
  createdByUserAccountId: string;
}

export interface RepositoryTable {
  workspaceId: string;
  id: string;
  teamId: string;
  workspaceScmConnectionId: Generated<string>;
  provider: number;
  externalProjectId: Generated<string>;
  externalProjectName: Generated<string>;
  externalProjectNameFold: Generated<string>;
  externalRepositoryId: Generated<string>;
  externalRepositoryName: string;
  externalRepositoryNameFold: string;
  externalRepositoryFullName: Generated<string>;
  externalRepositoryUrl: Generated<string>;
  defaultBranch: Generated<string>;
  defaultBranchFold: Generated<string>;
  isDefaultForAgents: Generated<boolean>;
  createdUtc: GeneratedTimestamp;
  updatedUtc: GeneratedTimestamp;
}

export interface AccessTokenTable {
  workspaceId: string;
  id: string;
  userAccountId: string;
  parentTokenId: string | null;
  name: string;
  tokenHash: Buffer;
  scopes: string[];
  createdUtc: GeneratedTimestamp;
  expiresUtc: Timestamp | null;
  lastUsedUtc: Timestamp | null;
  revokedUtc: Timestamp | null;
}

/** The workspace of a token, by the hash of its text. */
export interface TokenRouteTable {
  workspaceId: string;
  tokenHash: Buffer;
}

export interface AuditEntryTable {
  workspaceId: string;
  id: string;
  occurredUtc: Timestamp;
  act: string;
  actorKind: number;
  actorName: string;
  userAccountId: string | null;
  tokenId: string | null;
  address: string | null;
  requestId: string | null;
  subjectKind: string;
  subjectId: string | null;
  subjectName: string;
  changes: AuditChanges;
}

export interface IdempotencyKeyTable {
  workspaceId: string;
  userAccountId: string;
  key: string;
  requestHash: Buffer;
  /** The answer, as JSON. Null between the statement of the write and that which adds the answer. */
  result: string | null;
  /** The row that was written, by the SQL names of its columns; null once there is an answer. */
  written: Readonly<Record<string, unknown>> | null;
  createdUtc: Timestamp;
}

export interface ImportSourceTable {
  workspaceId: string;
  source: string;
  kind: string;
  sourceId: string;
  targetId: string;
  record: ImportRecord;
  importedUtc: GeneratedTimestamp;
}

/** Only triggers write this table (migration 0018). */
export interface WorkspaceVersionTable {
  workspaceId: string;
  ref: number;
  tag: number;
  auth: number;
  refXact: string | null;
  authXact: string | null;
}

/** The groups of rows of cached tables that changed in each version. Only triggers write this table. */
export interface ReferenceChangeTable {
  workspaceId: string;
  version: number;
  tag: number;
  keptTable: string;
  groupId: string;
}
