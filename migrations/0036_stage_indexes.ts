/** What came and what went since a time is read from one index, which has both sides of each stage. */
export const indexes = {
  creates: {
    issue_stage_by_beginning:
      'issue_stage (workspace_id, since_utc) include (status_id, deleted, previous_status_id, previous_deleted)',
    issue_stage_of_delivery: 'issue_stage (workspace_id, delivery_id) where delivery_id is not null',
    issue_stage_of_project: 'issue_stage (workspace_id, project_id) where project_id is not null',
  },
  drops: [
    'issue_stage_by_since',
    'issue_stage_by_until',
    'issue_stage_by_delivery',
    'issue_stage_by_project',
  ],
};
