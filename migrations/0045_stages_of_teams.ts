/** The numbers of a team's issues are counted from the same index as those of the workspace. */
export const indexes = {
  creates: {
    issue_stage_by_time:
      'issue_stage (workspace_id, since_utc) include (team_id, status_id, deleted, previous_status_id, previous_deleted)',
  },
  drops: ['issue_stage_by_beginning'],
};
