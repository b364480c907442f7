/** The operations of the GraphQL workloads in the product's names. Peers with the same names run them unchanged. */

const issueFields = `
fragment IssueFields on Issue {
  id key title description teamId
  team { name code iconCss color }
  reporterUserAccountId
  reporter { displayName avatarUrl }
  parentIssueId statusId priority primaryAssigneeUserAccountId projectId deliveryId
  assigneeUserAccountIds labelIds
  status { id name description color category position isInitial isTerminal }
  project { id teamId name key iconCss color }
  delivery {
    id teamId number name description startsOn endsOn state
    issueCount closedIssueCount estimatedScope closedEstimate isCurrent isUpcoming
  }
  assignees { userAccountId displayName avatarUrl principalKind }
  roleAssignments { role userAccountId displayName }
  labels { id isGroup name description color teamId groupId groupName }
  commentCount subIssueCount linkCount estimateValue dueDate
  createdUtc updatedUtc lastActivityUtc lastCommentUtc closedUtc isSubscribed
}`;

const dashboard = (total: string, filter: string) => `
query Dashboard($codes: [String!]!) {
  teams(first: 10, filter: { state: { eq: ACTIVE }, code: { in: $codes } }) {
    ${total}
    nodes {
      code name lead { displayName }
      projects(first: 5) { ${total} nodes { key name progressPercent } }
      issues(first: 20, orderBy: { field: UPDATED, direction: DESC }${filter}) {
        ${total}
        nodes {
          key title priority dueDate status { name color }
          primaryAssignee { displayName avatarUrl } labels { name color }
          comments(first: 3) { ${total} nodes { bodyText author { displayName } } }
        }
      }
    }
  }
}`;

const issuePage = `
query IssuePage($after: String) {
  issues(first: 50, after: $after, orderBy: { field: CREATED, direction: ASC }) {
    nodes { id key title priority createdUtc status { name color } }
    pageInfo { hasNextPage endCursor }
  }
}`;

export const documents: Readonly<Record<string, string>> = {
  W1: dashboard('', ''),
  W1t: dashboard('totalCount', ''),
  W1f: dashboard('', ', filter: { status: { isTerminal: { eq: false } } }'),
  W2: `
query WholeIssues($teamId: ID!, $before: DateTime!) {
  issues(
    first: 100
    filter: { teamId: { eq: $teamId }, createdUtc: { lt: $before } }
    orderBy: { field: CREATED, direction: DESC }
  ) {
    nodes { ...IssueFields }
    pageInfo { hasNextPage }
  }
}${issueFields}`,
  W3: `
query IssueWithComments($key: String!) {
  issue(key: $key) {
    id key title description priority dueDate estimateValue createdUtc updatedUtc commentCount isSubscribed
    team { id code name } status { id name color category }
    project { id key name } primaryAssignee { userAccountId displayName avatarUrl } labels { id name color }
    comments(first: 20) {
      nodes { id bodyText isEdited canManage createdUtc author { userAccountId displayName avatarUrl } }
      pageInfo { hasNextPage }
    }
  }
}`,
  W4: `
mutation IssueCreate($input: IssueCreateInput!) {
  issueCreate(input: $input) { issue { ...IssueFields } }
}${issueFields}`,
  W5: `
mutation CommentCreate($input: CommentCreateInput!) {
  commentCreate(input: $input) {
    comment {
      id parentCommentId authorUserAccountId author { displayName avatarUrl } parentAuthorDisplayName
      body canManage isEdited createdUtc updatedUtc
    }
  }
}`,
  W8: issuePage,
};
