/**
 * Lists by the time at which issues were started, and the numbers of issues that were started or closed in a period with
 * the times that they took, which are read from the index alone.
 */
export const indexes = {
  creates: {
    issue_by_started: 'issue (workspace_id, started_utc, id) where deleted_utc is null',
    issue_by_closed:
      'issue (workspace_id, closed_utc, id) include (created_utc, started_utc, estimate_value) where deleted_utc is null',
  },
};
