/**
 * When a row is removed, PostgreSQL looks for rows that refer to it. The indexes by parent have living rows only, so it read whole
 * tables: an issue that is removed for good may be the parent of a deleted one.
 */
export const indexes = {
  creates: {
    issue_of_parent: 'issue (workspace_id, parent_issue_id) where parent_issue_id is not null',
    comment_of_parent: 'comment (workspace_id, parent_comment_id) where parent_comment_id is not null',
    agent_thread_message_by_reply_to:
      'agent_thread_message (workspace_id, reply_to_message_id) where reply_to_message_id is not null',
  },
};
