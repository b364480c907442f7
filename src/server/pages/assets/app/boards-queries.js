export const query = `# The teams at work, with what each has open and the delivery that it is working on.
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

export const subscription = `# What happens to issues. The page then reads its query again.
subscription BoardsChanges($after: String) {
  changes(after: $after, filter: { eventType: { startsWith: "issue." } }) {
    cursor
    eventType
  }
}`;
