/**
 * When a row is removed, PostgreSQL looks for rows that refer to it, and deleted ones count. The existing indexes by parent contain only
 * living rows, and replies to messages had no index, so PostgreSQL read the whole table, or the whole thread, for each removed row.
 */
export const indexes = {
  creates: {
    issue_of_parent: 'issue (workspace_id, parent_issue_id) where parent_issue_id is not null',
    comment_of_parent: 'comment (workspace_id, parent_comment_id) where parent_comment_id is not null',
    agent_thread_message_by_reply_to:
      'agent_thread_message (workspace_id, reply_to_message_id) where reply_to_message_id is not null',
  },
};
