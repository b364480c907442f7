export const query = `# The active teams, with the number of their open issues and the current delivery.
query Boards {
  workspace {
    name
    changeCursor
  }
  teams(first: 100, filter: { state: { eq: ACTIVE } }) {
    nodes {
      code
      name
      color
      description
      lead {
        displayName
      }
      open: issues(first: 1, filter: { status: { isTerminal: { eq: false } } }) {
        totalCount
      }
      active: issues(first: 1, filter: { status: { category: { eq: ACTIVE } } }) {
        totalCount
      }
      deliveries(first: 1, filter: { state: { eq: ACTIVE } }) {
        nodes {
          name
          endsOn
          issueCount
          closedIssueCount
        }
      }
    }
  }
}`;

export const subscription = `# Changes of issues, after which the page reads its query again.
subscription BoardsChanges($after: String) {
  changes(after: $after, filter: { eventType: { startsWith: "issue." } }) {
    cursor
    eventType
  }
}`;
