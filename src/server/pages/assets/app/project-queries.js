export const query = `# A project: its progress, its open and closed issues, and its burnup.
query Project($key: String!, $from: Date!, $to: Date!, $timeZone: String!) {
  workspace {
    changeCursor
  }
  project(key: $key) {
    id
    key
    name
    summary
    description
    color
    priority
    progressPercent
    startUtc
    targetUtc
    updatedUtc
    status {
      name
      color
    }
    team {
      code
      name
    }
    lead {
      displayName
    }
    labels(first: 20) {
      nodes {
        name
        color
      }
    }
    links(first: 50) {
      nodes {
        title
        url
      }
    }
    burnup(from: $from, to: $to, timeZone: $timeZone) {
      days {
        onDate
        scope
        started
        done
      }
    }
    open: issues(
      first: 100
      orderBy: { field: PRIORITY }
      filter: { status: { isTerminal: { eq: false } } }
    ) {
      totalCount
      nodes {
        ...Row
      }
    }
    closed: issues(
      first: 20
      orderBy: { field: UPDATED, direction: DESC }
      filter: { status: { isTerminal: { eq: true } } }
    ) {
      totalCount
      nodes {
        ...Row
      }
    }
  }
}

fragment Row on Issue {
  key
  title
  priority
  dueDate
  status {
    name
    category
    color
    isTerminal
  }
  primaryAssignee {
    displayName
  }
}`;

export const subscription = `# Changes of the issues of the project, after which the page reads its query again.
subscription ProjectChanges($after: String, $id: ID!) {
  issues(after: $after, filter: { projectId: { eq: $id } }) {
    kind
    cursor
  }
}`;
