/** What GraphiQL opens with at an issue's address. */
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
