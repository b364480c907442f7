/** The query with which GraphiQL opens at the URL of an issue. */
export function issueQuery(key: string): string {
  return `query Issue {
  issue(key: "${key}") {
    key title description priority dueDate
    status { name category }
    team { name }
    project { name }
    primaryAssignee { displayName }
    labels { name }
    comments(first: 20) { nodes { bodyText createdUtc author { displayName } } }
  }
}
`;
}
