import type { Selectable } from 'kysely';
import type {
  WorkspaceTable,
  UserAccountTable,
  MemberTable,
  TeamTable,
  TeamCounterTable,
  TeamMemberTable,
  StatusTable,
  LabelTable,
  DeliveryTable,
  DeliveryCountTable,
  ProjectStatusTable,
  ProjectTable,
  ProjectCountTable,
  ProjectMemberTable,
  ProjectLabelTable,
  ProjectLinkTable,
  RepositoryTable,
  AccessTokenTable,
  TokenRouteTable,
  AuditEntryTable,
  IdempotencyKeyTable,
  ImportSourceTable,
  ReferenceChangeTable,
  WorkspaceVersionTable,
} from './directory-tables.ts';
import type { ChangeHeadTable, ChangeInboxTable, ChangeTable } from './change-tables.ts';
import type { WebhookDeliveryTable, WebhookTable } from './webhook-tables.ts';
import type { IssueTable } from '../../model/issue-table.ts';
import type {
  IssueAssigneeTable,
  IssueLabelTable,
  IssueSubscriptionTable,
  IssueRoleAssignmentTable,
  CommentTable,
  IssueLinkTable,
  AttachmentTable,
  ActivityTable,
  IssueStageTable,
  IssueTextTable,
  IssueTallyTable,
  AgentInstallationTable,
  AgentThreadTable,
  AgentThreadMessageTable,
} from './issue-tables.ts';

/** All tables by their names in TypeScript. In SQL the names are in snake_case. */
export interface Tables {
  workspace: WorkspaceTable;
  userAccount: UserAccountTable;
  member: MemberTable;
  team: TeamTable;
  teamCounter: TeamCounterTable;
  teamMember: TeamMemberTable;
  status: StatusTable;
  label: LabelTable;
  delivery: DeliveryTable;
  deliveryCount: DeliveryCountTable;
  projectStatus: ProjectStatusTable;
  project: ProjectTable;
  projectCount: ProjectCountTable;
  projectMember: ProjectMemberTable;
  projectLabel: ProjectLabelTable;
  projectLink: ProjectLinkTable;
  repository: RepositoryTable;
  accessToken: AccessTokenTable;
  tokenRoute: TokenRouteTable;
  auditEntry: AuditEntryTable;
  idempotencyKey: IdempotencyKeyTable;
  importSource: ImportSourceTable;
  workspaceVersion: WorkspaceVersionTable;
  referenceChange: ReferenceChangeTable;
  issue: IssueTable;
  issueAssignee: IssueAssigneeTable;
  issueLabel: IssueLabelTable;
  issueSubscription: IssueSubscriptionTable;
  issueRoleAssignment: IssueRoleAssignmentTable;
  comment: CommentTable;
  issueLink: IssueLinkTable;
  attachment: AttachmentTable;
  activity: ActivityTable;
  issueStage: IssueStageTable;
  issueText: IssueTextTable;
  issueTally: IssueTallyTable;
  agentInstallation: AgentInstallationTable;
  agentThread: AgentThreadTable;
  agentThreadMessage: AgentThreadMessageTable;
  changeInbox: ChangeInboxTable;
  change: ChangeTable;
  changeHead: ChangeHeadTable;
  webhook: WebhookTable;
  webhookDelivery: WebhookDeliveryTable;
}

export type TableName = keyof Tables;

/** A row of a table as a select returns it. */
export type Row<Name extends TableName> = Selectable<Tables[Name]>;
