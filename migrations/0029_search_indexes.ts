/**
 * Words of titles are found in `issue_text`. Rare values of estimates and of the times of last comments are found by
 * indexes, which have no entries for issues without them.
 */
export const indexes = {
  creates: {
    issue_text_by_words: 'issue_text using gin (workspace_id, title_fold gin_trgm_ops)',
    issue_by_estimate:
      'issue (workspace_id, estimate_value, id) where deleted_utc is null and estimate_value is not null',
    issue_by_last_comment:
      'issue (workspace_id, last_comment_utc, id) where deleted_utc is null and last_comment_utc is not null',
  },
  drops: ['issue_title_trigram'],
};
