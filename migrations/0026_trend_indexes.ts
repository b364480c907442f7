/**
 * What trends count is read from indexes alone: how many issues were created, started and closed in a period, with their
 * estimates and the times that they took. The index by `started_utc` is also that of lists in this order.
 */
export const indexes = {
  creates: {
    issue_by_created_with_estimate:
      'issue (workspace_id, created_utc, id) include (estimate_value) where deleted_utc is null',
    issue_by_started:
      'issue (workspace_id, started_utc, id) include (estimate_value) where deleted_utc is null',
    issue_by_closed:
      'issue (workspace_id, closed_utc, id) include (created_utc, started_utc, estimate_value) where deleted_utc is null and closed_utc is not null',
  },
  drops: ['issue_by_created'],
};
