/** The maximum lengths of texts in code points, and of lists in items (docs/contract.md, "Writes"). */
export const limits = {
  title: 255,
  description: 100_000,
  comment: 50_000,
  url: 2_048,
  role: 50,
  labels: 50,
  people: 50,
  followUpActions: 10,
  actionColor: 255,
  batch: 50,
  /** The sub-issues that an issue may have when it is deleted or restored, because each of them is changed too. */
  subIssuesAtOnce: 2_000,
  /** Values in one list of a filter. */
  filterValues: 250,
  /** The ids in the argument of `nodes`, and the names that one query looks up. */
  names: 250,
  /** The rows of a page of most lists, and the default size of a page. */
  pageSize: 250,
  defaultPageSize: 50,
  /** A text that a filter compares with. */
  filterText: 1_000,
  /** Its folded form, in which one character can become 18. No folded title or name of 255 characters is longer. */
  foldedFilterText: 255 * 18,
  /** The name of a member, a team, a status and so on. */
  name: 255,
  fileName: 255,
  mediaType: 255,
  emailAddress: 320,
  color: 50,
  iconCss: 255,
  slug: 100,
  summary: 1_000,
  teamCode: 10,
  projectKey: 50,
  repositoryName: 500,
  teams: 10_000,
  /** Statuses of one team. */
  statuses: 250,
  projectMembers: 10_000,
  projectLabels: 250,
  /** `ENGINEERING-2147483647`: the code of a team and a number. */
  issueKey: 21,
  /** The text of an activity entry, which contains the names of the actor and of what was changed. */
  activity: 2_000,
  eventType: 100,
  /** The cursor of a change: its position and the tag of the run that gave it. */
  changeCursor: 40,
  /** Fields that one change names. No object has as many. */
  changedFields: 100,
  /** Access tokens of one member that are neither expired nor revoked. The APIs refuse to create more. */
  accessTokens: 50,
  /** Access tokens of one member that were created within an hour. The APIs refuse to create more. */
  accessTokensPerHour: 100,
  webhooks: 20,
  /** How many attempts of one webhook delivery are stored. */
  webhookAttempts: 10,
  /** How many bytes of a receiver's answer are stored. */
  webhookHead: 1_024,
  /** Webhook deliveries that one call repeats. */
  redeliveries: 1_000,
  /** How many changes one read returns. */
  changesPerRead: 250,
  /** For how many seconds a read of changes may wait. */
  changesWaitSeconds: 25,
  /**
   * The violations in one error. More would not help the client, and the answer must not be longer than the request.
   */
  violations: 100,
  /** The `X-Request-Id` of a request. */
  requestId: 128,
  threadPreview: 200,
  threadMessages: 1_000,
} as const;
