const card = `fragment Card on Issue {
  id
  key
  title
  priority
  dueDate
  estimateValue
  commentCount
  updatedUtc
  statusId
  parentIssueId
  subIssuesSummary {
    total
    completed
  }
  labels {
    id
    name
    color
  }
  primaryAssignee {
    userAccountId
    displayName
  }
}`;

export const query = `# A board: the issues of a team by status, with their counts and the values that they can be filtered by.
query Board($team: String!, $board: IssueFilter!, $all: IssueFilter!, $after: String, $rest: Boolean! = true) {
  workspace {
    changeCursor
  }
  teams(first: 100, filter: { state: { eq: ACTIVE } }) @include(if: $rest) {
    nodes {
      code
      name
    }
  }
  team(code: $team) {
    code
    name
    color
    statuses @include(if: $rest) {
      id
      name
      category
      color
      isTerminal
    }
    open: issues(
      first: 250
      after: $after
      orderBy: { field: PRIORITY }
      filter: { and: [$board, { status: { isTerminal: { eq: false } } }] }
    ) {
      nodes {
        ...Card
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
    closed: issues(
      first: 60
      orderBy: { field: UPDATED, direction: DESC }
      filter: { and: [$board, { status: { isTerminal: { eq: true } } }] }
    ) @include(if: $rest) {
      nodes {
        ...Card
      }
    }
  }
  byStatus: issueStats(groupBy: [STATUS], first: 50, filter: $board) @include(if: $rest) {
    status {
      id
    }
    count
  }
  byAssignee: issueStats(groupBy: [ASSIGNEE], first: 50, filter: $all) @include(if: $rest) {
    assignee {
      userAccountId
      displayName
    }
    count
  }
  byLabel: issueStats(groupBy: [LABEL], first: 50, filter: $all) @include(if: $rest) {
    label {
      id
      name
    }
    count
  }
  byProject: issueStats(groupBy: [PROJECT], first: 50, filter: $all) @include(if: $rest) {
    project {
      id
      name
    }
    count
  }
}

${card}`;

export const countsQuery = `query BoardCounts($board: IssueFilter!, $parents: [ID!]!) {
  workspace {
    changeCursor
  }
  issueStats(groupBy: [STATUS], first: 50, filter: $board) {
    status {
      id
    }
    count
  }
  parents: issues(first: 50, filter: { id: { in: $parents } }) {
    nodes {
      id
      subIssuesSummary {
        total
        completed
      }
    }
  }
}`;

export const subscription = `# Issues that enter the board, change on it or leave it.
subscription BoardChanges($after: String, $board: IssueFilter!) {
  issues(after: $after, filter: $board) {
    kind
    cursor
    issueId
    issue {
      ...Card
    }
  }
}

${card}`;
