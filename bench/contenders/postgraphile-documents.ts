/**
 * The operations of the GraphQL workloads for PostGraphile. Aliases convert most names to the product's;
 * postgraphile-answers.ts converts the rest.
 */
const issueFields = `
  rowId title description priority dueDate estimateValue createdUtc updatedUtc commentCount isSubscribed number
  labels: issueLabelsByWorkspaceIdAndIssueId { nodes { label: workspaceLabel { ID } } }
  status: statusByWorkspaceIdAndTeamIdAndStatusIdAndStatusRank { STATUS }
  primaryAssignee: workspacePrimaryAssigneeUserAccount { userAccountId displayName avatarUrl }`;

const dashboard = (total: string, filter: string) => `
query Dashboard($workspaceId: UUID!, $codes: [String!]!) {
  teams(first: 10, filter: { workspaceId: { equalTo: $workspaceId }, state: { equalTo: 1 }, code: { in: $codes } }, orderBy: [NAME_FOLD_ASC, ROW_ID_ASC]) {
    ${total}
    nodes {
      code name lead: workspaceLeadUserAccount { displayName }
      projects: projectsByWorkspaceIdAndTeamId(first: 5, orderBy: [NAME_FOLD_ASC, ROW_ID_ASC]) { ${total} nodes { key name progressPercent } }
      issues: issuesByWorkspaceIdAndTeamId(first: 20, condition: { deletedUtc: null }, orderBy: [UPDATED_UTC_DESC, ROW_ID_DESC]${filter}) {
        ${total}
        nodes {
          number title priority dueDate status: statusByWorkspaceIdAndTeamIdAndStatusIdAndStatusRank { name color }
          primaryAssignee: workspacePrimaryAssigneeUserAccount { displayName avatarUrl }
          labels: issueLabelsByWorkspaceIdAndIssueId { nodes { label: workspaceLabel { name color } } }
          comments: commentsByWorkspaceIdAndIssueId(first: 3, condition: { deletedUtc: null }, orderBy: [CREATED_UTC_ASC, ROW_ID_ASC]) {
            ${total} nodes { bodyText: body author: workspaceAuthorUserAccount { displayName } }
          }
        }
      }
    }
  }
}`;

export const documents: Readonly<Record<string, string>> = {
  W1: dashboard('', ''),
  W1t: dashboard('totalCount', ''),
  W1f: dashboard(
    '',
    ', filter: { statusByWorkspaceIdAndTeamIdAndStatusIdAndStatusRank: { isTerminal: { equalTo: false } } }',
  ),
  W2: `
query WholeIssues($workspaceId: UUID!, $teamId: UUID!, $before: Datetime!) {
  issues(
    first: 100
    condition: { deletedUtc: null, workspaceId: $workspaceId, teamId: $teamId }
    filter: { createdUtc: { lessThan: $before } }
    orderBy: [CREATED_UTC_DESC, ROW_ID_DESC]
  ) {
    nodes {
      ${issueFields
        .replace('ID', 'rowId isGroup name description color teamId groupId group: workspaceGroup { name }')
        .replace('STATUS', 'rowId name description color category position isInitial isTerminal')
        .replace(/primaryAssignee:.*/, '')}
      teamId team: workspaceTeam { name code iconCss color }
      reporterUserAccountId reporter: workspaceReporterUserAccount { displayName avatarUrl }
      parentIssueId statusId primaryAssigneeUserAccountId projectId deliveryId
      project: workspaceProject { rowId teamId name key iconCss color }
      delivery: workspaceTeamDelivery {
        rowId teamId number name description startsOn endsOn state
        totals { issueCount closedIssueCount estimatedScope closedEstimate }
      }
      assignees: issueAssigneesByWorkspaceIdAndIssueId(orderBy: [POSITION_ASC]) {
        nodes { member: workspaceUserAccount { userAccountId displayName avatarUrl principalKind } }
      }
      roleAssignments: issueRoleAssignmentsByWorkspaceIdAndIssueId(orderBy: [ROLE_ASC, USER_ACCOUNT_ID_ASC]) {
        nodes { role userAccountId member: workspaceUserAccount { displayName } }
      }
      subIssueCount linkCount lastActivityUtc lastCommentUtc closedUtc
    }
    pageInfo { hasNextPage }
  }
}`,
  W3: `
query IssueWithComments($workspaceId: UUID!, $code: String!, $number: Int!) {
  teamByWorkspaceIdAndCode(workspaceId: $workspaceId, code: $code) {
    rowId code name
    issues: issuesByWorkspaceIdAndTeamId(first: 1, condition: { number: $number, deletedUtc: null }) {
      nodes {
        ${issueFields.replace('ID', 'rowId name color').replace('STATUS', 'rowId name color category')}
        project: workspaceProject { rowId key name }
        comments: commentsByWorkspaceIdAndIssueId(first: 20, condition: { deletedUtc: null }, orderBy: [CREATED_UTC_ASC, ROW_ID_ASC]) {
          nodes { rowId bodyText: body isEdited createdUtc author: workspaceAuthorUserAccount { userAccountId displayName avatarUrl } }
          pageInfo { hasNextPage }
        }
      }
    }
  }
}`,
  W8: `
query IssuePage($workspaceId: UUID!, $after: Cursor) {
  issues(first: 50, after: $after, condition: { deletedUtc: null, workspaceId: $workspaceId }, orderBy: [CREATED_UTC_ASC, ROW_ID_ASC]) {
    nodes { rowId number title priority createdUtc team: workspaceTeam { code }
      status: statusByWorkspaceIdAndTeamIdAndStatusIdAndStatusRank { name color } }
    pageInfo { hasNextPage endCursor }
  }
}`,
};

export const deepCursors = `
query DeepCursors($workspaceId: UUID!, $offset: Int!, $first: Int!) {
  issues(first: $first, offset: $offset, condition: { deletedUtc: null, workspaceId: $workspaceId }, orderBy: [CREATED_UTC_ASC, ROW_ID_ASC]) {
    edges { cursor node { rowId } }
  }
}`;
