/**
 * Lists in an order with nulls read the rows with a value and those without separately, so one index serves both
 * directions. While an earlier version runs beside this one, its lists in the descending orders are sorted.
 */
export const indexes = {
  creates: {
    issue_by_last_activity: 'issue (workspace_id, last_activity_utc, id) where deleted_utc is null',
  },
  drops: [
    'issue_by_last_activity_desc',
    'issue_by_due_date_desc',
    'project_by_lead_desc',
    'project_by_target_desc',
  ],
};
