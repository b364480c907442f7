export const query = `# How work flows: issues created and closed, cycle times, issues by category, and the workload of members. A null team means all.
query Dashboard(
  $team: String
  $from: Date!
  $to: Date!
  $every: TrendPeriodLength!
  $timeZone: String!
  $deliveriesFrom: Date!
  $maxGroups: Int!
) {
  workspace {
    name
    changeCursor
  }
  all: teams(first: 100, filter: { state: { eq: ACTIVE } }) {
    nodes {
      code
      name
    }
  }
  trend: issueTrend(
    every: $every
    from: $from
    to: $to
    timeZone: $timeZone
    filter: { team: { code: { eq: $team } } }
  ) {
    historySinceUtc
    periods {
      startsOn
      endsOn
      created
      started
      closed
      cycleTime {
        median
        p85
      }
    }
  }
  byTeam: issueTrend(
    every: $every
    from: $from
    to: $to
    timeZone: $timeZone
    filter: { team: { code: { eq: $team } } }
    groupBy: [TEAM]
    first: 12
  ) {
    periods {
      startsOn
      closed
      team {
        code
        name
      }
    }
  }
  flow: issueFlow(
    every: $every
    from: $from
    to: $to
    timeZone: $timeZone
    team: { code: { eq: $team } }
  ) {
    periods {
      startsOn
      endsOn
      backlog
      open
      active
      completed
      canceled
    }
  }
  now: issueStats(
    groupBy: [STATUS_CATEGORY]
    filter: { team: { code: { eq: $team } } }
  ) {
    statusCategory
    count
  }
  workload: issueStats(
    groupBy: [ASSIGNEE, STATUS_CATEGORY]
    first: $maxGroups
    filter: {
      team: { code: { eq: $team } }
      status: { category: { in: [OPEN, ACTIVE] } }
    }
  ) {
    assignee {
      userAccountId
      displayName
    }
    statusCategory
    count
    estimateSum
  }
  oldest: issues(
    first: 8
    orderBy: { field: CREATED }
    filter: {
      team: { code: { eq: $team } }
      status: { isTerminal: { eq: false } }
    }
  ) {
    nodes {
      key
      title
      priority
      createdUtc
      status {
        name
      }
      primaryAssignee {
        displayName
      }
    }
  }
  teams(first: 12, filter: { state: { eq: ACTIVE }, code: { eq: $team } }) {
    pageInfo {
      hasNextPage
    }
    nodes {
      code
      name
      color
      deliveries(first: 1, filter: { state: { eq: ACTIVE } }) {
        nodes {
          name
          startsOn
          endsOn
          issueCount
          closedIssueCount
          burnup(from: $deliveriesFrom, to: $to, timeZone: $timeZone) {
            days {
              onDate
              scope
              started
              done
            }
          }
        }
      }
    }
  }
}`;

export const subscription = `# Changes of issues, after which the page reads its query again.
subscription DashboardChanges($after: String) {
  changes(after: $after, filter: { eventType: { startsWith: "issue." } }) {
    cursor
    eventType
  }
}`;
